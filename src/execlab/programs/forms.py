"""Canonical forms of expressions, built from those of their parts: how the generator writes them beside the text.

`canonical.py` says what a canonical form is, and derives it a second time, from the syntax tree of any program. A form
is the text of a sum (`12+3*v1-5`), a product (`3*v1`), or of what is neither: a literal, a variable, or a conditional
in its parentheses. No others have parentheses, except sums that are factors. Terms and factors are sorted as texts.

>>> plus("7", "12")
'12+7'
>>> minus("v1", plus("12", minus("3", "v2")))
'v1+v2-12-3'
>>> times("7", "12*(3-4)"), times("-7", "v1")
('(3-4)*12*7', '-7*v1')
"""

from __future__ import annotations

import re

_SIGNED = re.compile("[+-][^+-]+")
_VARIABLE = re.compile("[vwyz]([0-9]+)")
_FLIPPED = {"+": "-", "-": "+"}


def variable(number: int) -> str:
    """What the variable of this number is called; sorted as texts, the names are in the order of the numbers.

    So terms and factors stay sorted when all variables are numbered higher.

    >>> [variable(number) for number in (1, 9, 10, 99, 100)]
    ['v1', 'v9', 'w10', 'w99', 'y100']
    """
    digits = str(number)
    return "vwyz"[len(digits) - 1] + digits


def shifted(text: str, by: int) -> str:
    """The same with all variables numbered higher."""
    return _VARIABLE.sub(lambda name: variable(int(name[1]) + by), text)


def plus(a: str, b: str) -> str:
    """The form of a + b."""
    if b.isdigit():  # nearly always, and far cheaper
        if a.isdigit():
            return f"{a}+{b}" if a <= b else f"{b}+{a}"
        if a[0] == "v" and a[1:].isdigit():
            return f"{b}+{a}"
    return summed(terms(a) + terms(b))


def minus(a: str, b: str) -> str:
    """The form of a - b."""
    if b.isdigit() and (a.isdigit() or (a[0] == "v" and a[1:].isdigit())):
        return f"{a}-{b}"
    return summed(terms(a) + [_FLIPPED[term[0]] + term[1:] for term in terms(b)])


def times(a: str, b: str) -> str:
    """The form of a * b."""
    if b.isdigit() and not ("*" in a or "+" in a or "-" in a):
        return f"{a}*{b}" if a <= b else f"{b}*{a}"
    (a_sign, a_factors), (b_sign, b_factors) = factors(a), factors(b)
    return ("" if a_sign == b_sign else "-") + "*".join(sorted(a_factors + b_factors))


def negative(a: str) -> str:
    """The form of -a, for anything but a sum."""
    return a[1:] if a[0] == "-" else "-" + a


def compared(a: str, sign: str, b: str) -> str:
    """The form of a comparison: > and >= are turned around, == and != have their sides in order."""
    if sign[0] == ">":
        return f"{b}<{sign[1:]}{a}"
    return f"{b}{sign}{a}" if sign[0] != "<" and b < a else f"{a}{sign}{b}"


def summed(signed: list[str]) -> str:
    """The form of a sum of terms, each with its sign."""
    return "".join(sorted(signed)).removeprefix("+")


def terms(form: str) -> list[str]:
    """The terms of a form, each with its sign."""
    if "+" not in form and "-" not in form:
        return ["+" + form]
    if form[0] != "-":
        form = "+" + form
    return _split(form, "+-") if "(" in form else _SIGNED.findall(form)


def factors(form: str) -> tuple[str, list[str]]:
    """The sign of a form and its factors; a sum of several terms is one factor."""
    of_sum = terms(form)
    if len(of_sum) > 1:
        return "+", [f"({form})"]
    sign, product = of_sum[0][0], of_sum[0][1:]
    if "(" in product:
        return sign, [factor.removeprefix("*") for factor in _split(product, "*")]
    return sign, product.split("*")


def _split(form: str, marks: str) -> list[str]:
    """The parts of a form that begin with these marks, outside all parentheses."""
    places, depth = [0], 0
    for place, character in enumerate(form):
        if character == "(":
            depth += 1
        elif character == ")":
            depth -= 1
        elif depth == 0 and place and character in marks:
            places.append(place)
    return [form[start:end] for start, end in zip(places, [*places[1:], len(form)], strict=True)]
