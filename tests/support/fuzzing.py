"""Texts to throw at the interpreter: what the generator writes, what a person may type, damage, and malice."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from execlab.programs import LAYOUTS, generate_program
from execlab.randomness import below, stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from random import Random

T = TypeVar("T")

TOKENS = (
    *[
        "print",
        "range",
        "for",
        "in",
        "if",
        "else",
        "x",
        "a",
        "b",
        "j",
        "_",
        "__import__",
        "__builtins__",
        "lambda",
        "not",
        "and",
        "or",
        "is",
        "None",
        "True",
        "def",
        "class",
    ],
    *[
        "return",
        "import",
        "while",
        "with",
        "yield",
        "await",
        "async",
        "match",
        "case",
        "del",
        "global",
        "try",
        "except",
        "raise",
        "assert",
        "exec",
        "eval",
        "open",
    ],
    *[
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ",",
        ":",
        ";",
        ".",
        "=",
        "==",
        "!=",
        "<",
        ">",
        "<=",
        ">=",
        "+=",
        "-=",
        "*=",
        "/=",
        "//=",
        "**",
        "*",
        "/",
        "//",
        "%",
        "@",
        ":=",
        "->",
        "~",
        "&",
        "|",
        "^",
        "<<",
        ">>",
        "#",
        "\\",
        "'",
        "'''",
        "f'",
        "r'",
    ],
    *[
        "0",
        "1",
        "7",
        "10",
        "007",
        "1_0",
        "1__0",
        "0x1F",
        "0b1",
        "1.5",
        "1e9",
        "3j",
        "99999999999999999999",
        "'\\d'",
        "٣",
        "³",
        "é",
        "ｐｒｉｎｔ",
    ],
    *('"', 'f"', "\u200b", "\ufeff", "\x00", "\x0c", "\r", "\t", "\n", "\n", "\n  ", " ", " ", "\n\t"),
)

HOSTILE = (
    "print(__import__('os').system('true'))",
    "__import__('os')",
    "print((lambda:1)())",
    "print([x for x in range(9)])",
    "print(sum(x for x in range(9)))",
    "print(f'{1}')",
    "print((a:=3))",
    "print(().__class__.__bases__)",
    "a=1\nprint(a.real)",
    "print(9**9**9**9)",
    "print(1<<99999)",
    "exec('a=1')\nprint(1)",
    "eval('1')\nprint(1)",
    "print(open('/etc/passwd').read())",
    "print(globals())",
    "print(print)",
    "print(1)if 1 else print(2)",
    "import os\nprint(1)",
    "while 1:a=1\nprint(1)",
    "for x in range(3):\n  for y in range(3):a=1\nprint(1)",
    "for x in[1,2]:a=1\nprint(a)",
    "for x,y in range(3):a=1\nprint(a)",
    "def f():return 1\nprint(f())",
    "print(*[1])",
    "print(1,sep=2)",
    "a:int=1\nprint(a)",
    "a,b=1,2\nprint(a)",
    "del a\nprint(1)",
    "__debug__=1\nprint(1)",
    "print=1\nprint(print)",
    "range=1\nfor x in range(3):a=1\nprint(a)",
    "True=1\nprint(True)",
    "print(True+1)",
    "print(1 if True else 2)",
    "print(1and 2)",
    "print(0if 1>2else 3)",
    "print(1 if 1 is 1 else 2)",
    "print(\n1\n)",
    "print((1\n+2))",
    "a=1;;print(a)",
    "print(1)\n\n\n",
    "\n\n\nprint(1)",
    "# coding: latin-1\nprint(1)",
    "\ufeffprint(1)",
    "print(1)\x00",
    "#\x00\nprint(1)",
    "#\ud800\nprint(1)",
    "# [/a] :smile: [bold]\nprint(1)",
    "# a\u2028b\nprint(1)",
    "print(1)\x1a",
    "print(٣+१)",
    "ａ=1\nprint(a)",
    "print(1)\\\n",
    "if 1<2:print(1)",
    "for x in range(3):print(x)",
    "for x in range(2):x+=5\nprint(x)",
    "a=2\nfor x in range(a):a+=a\nprint(a)",
    "for x in range(-3):a=1\nprint(7)",
    "for x in range(0):a=1\nprint(x)",
    "print(-0)",
    "print(--1)",
    "print(+-+1)",
    "print(1<2)",
    "print(3 if 1<2<3!=4 else 5)",
    "print(3 if 2<1<undefined else 5)",
    "print(undefined)",
)


def texts(count: int, seed: int) -> Iterator[str]:
    """`count` texts, a fair share of each kind."""
    rng = stream(seed, "fuzz")
    for i in range(count):
        yield KINDS[i % len(KINDS)](rng)


def generated(rng: Random) -> str:
    text, *_ = generate_program(
        rng, 1 + below(rng, 10), 1 + below(rng, 8), "released" if rng.getrandbits(1) else "appendix"
    )
    return LAYOUTS["line" if rng.getrandbits(1) else "indented"](text)


def typed(rng: Random) -> str:
    """What a person would reasonably type."""
    known = ["a"]
    lines = [f"a = {below(rng, 100)}"]
    for _ in range(below(rng, 6)):
        name = pick(rng, ["a", "b", "total", "n2", "X"])
        kind = below(rng, 4)
        if kind == 0:
            body = [f"{pick(rng, known)} {pick(rng, ['+=', '-=', '*=', '='])} {expression(rng, [*known, 'x'], 2)}"]
            body += [f"{name} = {expression(rng, [*known, 'x'], 1)}"] * below(rng, 2)
            count = expression(rng, known, 0) if below(rng, 4) == 0 else str(below(rng, 12))
            joined = " " + "; ".join(body) if rng.getrandbits(1) else "".join("\n    " + line for line in body)
            lines.append(f"for x in range({count}):{joined}")
            known += [name] if len(body) > 1 and count.isdigit() and int(count) > 0 else []
        elif kind == 1:
            lines.append(f"{pick(rng, known)} {pick(rng, ['+=', '-=', '*='])} {expression(rng, known, 2)}")
        else:
            lines.append(f"{name} = {expression(rng, known, 3)}{pick(rng, ['', ';', '  # note', ' '])}")
            known.append(name)
    return "\n".join([*lines, f"print({expression(rng, known, 3)})"])


def expression(rng: Random, names: list[str], depth: int) -> str:
    """A random expression over these variables."""
    kind = below(rng, 8) if depth else below(rng, 2)
    if kind == 0:
        return str(below(rng, 10 ** (1 + below(rng, 6))))
    if kind == 1:
        return pick(rng, names)
    if kind == 2:
        return "-" + expression(rng, names, depth - 1)
    one, two, three, four = (expression(rng, names, depth - 1) for _ in range(4))
    if kind == 3:
        sign = pick(rng, ["<", ">", "<=", ">=", "==", "!="])
        return f"({one} if {two} {sign} {three} else {four})"
    return pick(rng, ["({} {} {})", "{}{}{}", "{} {} {}"]).format(one, pick(rng, ["+", "-", "*"]), two)


def mutated(rng: Random) -> str:
    """A program with a few characters deleted, doubled, replaced or moved."""
    text = typed(rng) if rng.getrandbits(1) else generated(rng)
    for _ in range(1 + below(rng, 4)):
        i, j = below(rng, len(text) + 1), below(rng, len(text) + 1)
        i, j = min(i, j), max(i, j)
        change = below(rng, 4)
        if change == 0:
            text = text[:i] + text[i + 1 :]
        elif change == 1:
            text = text[:i] + pick(rng, TOKENS) + text[i:]
        elif change == 2:
            text = text[:i] + pick(rng, TOKENS) + text[i + 1 :]
        else:
            text = text[:i] + text[i:j] * 2 + text[j:]
    return text[:12_000]


def soup(rng: Random) -> str:
    """Tokens in any order."""
    glue = pick(rng, ["", " "])
    return glue.join(pick(rng, TOKENS) for _ in range(1 + below(rng, 40)))


def hostile(rng: Random) -> str:
    return pick(rng, HOSTILE)


def huge(rng: Random) -> str:
    """Depth and size near and beyond the limits."""
    n = pick(rng, [3, 50, 95, 99, 101, 199, 201, 1_000, 3_000, 4_990, 9_990, 20_000])
    m = 1 + below(rng, 12_000)
    return pick(
        rng,
        [
            f"print({'(' * n}1{')' * n})",
            f"print({'-' * n}1)",
            f"print({'-+' * (n // 2)}1)",
            f"print({'not ' * n}1)",
            f"print({'~' * n}1)",
            f"print({'1+' * n}1)",
            f"print({'2*' * n}1)",
            f"print({'1 if 1<2 else ' * (n // 10)}1)",
            f"print(1 if {'1<' * n}2 else 3)",
            f"print({'9' * n})",
            f"a={'9' * n}\nprint(a*a)",
            f"a={'9' * n}\nfor x in range({n}):a*=a\nprint(a)",
            f"a={'9' * min(n, 2_000)}\nfor x in range({n}):b=a*a\nprint(b)",
            f"a=1\nfor x in range({'9' * n}):a+=1\nprint(a)",
            f"a=1\nfor x in range({m}):a+=x\nprint(a)",
            f"a=3\nfor x in range({m}):a*=7\nprint(a)",
            "a=1\n" * n + "print(a)",
            "a=1;" * n + "print(a)",
            "\n" * n + "print(1)",
            " " * n + "print(1)",
            f"print(1){' ' * n}",
            f"{'a' * n}=1\nprint({'a' * n})",
            f"print({'[' * n}{']' * n})",
            f"print({'f(' * n}{')' * n})",
            f"{'for x in range(1):' * n}a=1",
            f"print({'9**' * n}9)",
            f"for x in range(3):\n{chr(10).join(' ' * min(i, 50) + 'a=1' for i in range(n // 50))}\nprint(1)",
        ],
    )


def noise(rng: Random) -> str:
    """Any characters at all, lone surrogates included."""
    alphabet = pick(rng, [0x80, 0x100, 0x3000, 0x110000])
    return "".join(chr(below(rng, alphabet)) for _ in range(below(rng, 60)))


def pick(rng: Random, items: Sequence[T]) -> T:
    """One of the items."""
    return items[below(rng, len(items))]


KINDS: tuple[Callable[[Random], str], ...] = (
    generated,
    typed,
    typed,
    mutated,
    mutated,
    mutated,
    soup,
    hostile,
    huge,
    noise,
)
