"""The work of a program: its intermediate results written down, for a network that shows its work.

The results are the interpreter's own (`interpreter.steps`, every round of a loop included); this module only writes
them. Every part of the work ends in `;`, and what follows the last one is the answer. How a part is written is a choice
to be measured (docs/log.md), named by words with commas between:

- `results`: the value that an operation gives; or `columns`: sums and differences as on paper. `+` sums two numbers:
  their digits and the result's, place by place, lowest first. `>` or `<` takes the smaller number from the larger one
  and says how the first compares to the second. A `-` ends a negative result.
- a condition is how its sides compare, `<`, `=` or `>`, and then the value that it chose.
- a product by `shift`: sums of shifted products by one digit (in columns `*`: digit, result's digit, carry); by `sums`:
  running sums; or `whole`: its value.
- numbers `reversed`, lowest digit first and sign last, or in `reading` order. The answer always is in reading order.
- `names`: every assignment is a part of its own, with its variable.

>>> write("print((95+17))", "results")
'211;112'
>>> write("print((95+17))", "columns")
'+572911001;112'
>>> write("print((17-95))", "columns")
'<578917-;-78'
>>> write("a=5\\nfor x in range(2):a+=9\\nprint(a)", "results,reading,names")
'a=5;14;a=14;23;a=23;23'
>>> write("print((95*13))", "columns")
'*551982;*550990;+505853292001;1235'
>>> write("print((7 if 2>1 else 31))", "columns")
'>;7;7'
"""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

from execlab.errors import ExeclabError
from execlab.programs.interpreter import steps

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from execlab.programs.interpreter import Step

END = ";"  # of a part of the work
COMPARISONS = ("<", ">", "<=", ">=", "==", "!=")
KINDS, PRODUCTS, ORDERS, NAMES = ("results", "columns"), ("shift", "sums", "whole"), ("reversed", "reading"), "names"


class Form(NamedTuple):
    """How work is written."""

    columns: bool
    products: str = PRODUCTS[0]
    reverse: bool = True
    names: bool = False


def parse_form(text: str) -> Form:
    """The form that words with commas between name.

    >>> parse_form("columns,names")
    Form(columns=True, products='shift', reverse=True, names=True)
    """
    words = text.split(",")
    known = (*KINDS, *PRODUCTS, *ORDERS, NAMES)
    if wrong := [word for word in words if word not in known]:
        raise ExeclabError(
            f"work is {text[:40]!r}, and {wrong[0][:20]!r} is no form of it; choose none, or {', '.join(known)}"
        )
    chosen = [[word for word in words if word in choices] for choices in (KINDS, PRODUCTS, ORDERS)]
    if len(chosen[0]) != 1 or any(len(choice) > 1 for choice in chosen):
        raise ExeclabError(f"work is {text[:40]!r}; it must name one of {' and '.join(KINDS)}, and nothing twice")
    (kind,), products, orders = chosen
    return Form(kind == "columns", (products or PRODUCTS)[0], "reading" not in orders, NAMES in words)


def write(text: str, form: str) -> str:
    """The work of a program and its answer."""
    done = steps(text)
    return work(done, parse_form(form)) + str(done[-1].value)


def work(done: Iterable[Step], form: Form) -> str:
    """All parts of the work."""
    return "".join(part + END for part in parts(done, form))


def parts(done: Iterable[Step], form: Form) -> Iterator[str]:
    """The work part by part, without what ends a part."""
    for step in done:
        if step.sign in COMPARISONS:
            yield ">" if step.left > step.right else "<" if step.left < step.right else "="
        elif step.sign == "if":
            yield _number(step.value, form)
        elif step.sign == "=":
            if form.names:
                yield f"{step.name}={_number(step.value, form)}"
        elif step.sign == "*":
            yield from _product(step.left, step.right, form)
        elif step.sign != "print":
            yield _sum(step.left, step.right if step.sign == "+" else -step.right, form)


def _number(value: int, form: Form) -> str:
    return str(abs(value))[::-1] + "-" * (value < 0) if form.reverse else str(value)


def _sum(a: int, b: int, form: Form) -> str:
    """The sum of two numbers of any sign."""
    total = a + b
    if not form.columns:
        return _number(total, form)
    same = (a < 0) == (b < 0)
    large, small = (abs(a), abs(b)) if same or abs(a) >= abs(b) else (abs(b), abs(a))
    sign = "+" if same else ">" if abs(a) >= abs(b) else "<"
    places = zip_longest(*(str(number)[::-1] for number in (large, small, abs(total))), fillvalue="0")
    return sign + "".join(digit for place in places for digit in place) + "-" * (total < 0)


def _product(a: int, b: int, form: Form) -> Iterator[str]:
    """The product of two numbers; the shorter one is taken apart."""
    factor, by = (b, a) if len(str(abs(a))) < len(str(abs(b))) else (a, b)
    negative = (a < 0) != (b < 0)
    factor, by = abs(factor), abs(by)
    sign = -1 if negative else 1
    if form.products == "whole":
        yield _number(a * b, form)
    elif form.products == "sums":
        total = 0
        for _ in range(by):
            yield _sum(total, sign * factor, form)
            total += sign * factor
    else:
        total = 0
        for shift, digit in enumerate(reversed(str(by))):
            part = factor * int(digit)
            yield _times(factor, int(digit)) if form.columns else _number(part, form)
            if shift:
                yield _sum(total, part * 10**shift, form)
            total += part * 10**shift
        if negative:
            yield _number(-total, form)


def _times(factor: int, by: int) -> str:
    """A number times one digit."""
    places, carry = [], 0
    for digit in reversed(str(factor)):
        carry, result = divmod(int(digit) * by + carry, 10)
        places.append(f"{digit}{result}{carry}")
    return "*" + "".join(places)
