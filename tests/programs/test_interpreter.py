"""The interpreter: what it accepts, what it refuses and how, its limits, its trace; and fuzzing."""

from __future__ import annotations

import pytest
from fuzzing import HOSTILE, texts

from execlab.programs import ProgramError, execute, trace
from execlab.programs.cpython import run_in_cpython

FIGURE_1 = {
    "j=8584\nfor x in range(8):\n  j+=920\nb=(1500+j)\nprint((b+7567))": 25011,
    "i=8827\nc=(i-5347)\nprint((c+8704) if 2641<8500 else 5308)": 12184,
}

ACCEPTED = {
    **FIGURE_1,
    "print(6652)": 6652,
    "f=4692\nfor x in range(4):f-=1664\nj=1443\nfor x in range(8):j+=f\n"
    "d=j\nfor x in range(11):d-=4699\nprint(d)": -65958,
    "c=335973;\nb=(c+756088);\nprint((6*(b+66858)))": 6953514,
    "print(398345+425098)": 823443,
    "a=2;b=3;print(a*b-1)": 5,
    "print(-(-3)--2*+4)": 11,
    "print(1 if 2<=2 else 0)": 1,
    "print(1 if 3>=4 else 0)": 0,
    "print(1 if 3==4 else 2 if 3!=4 else 0)": 2,
    "print((1 if 1>2 else (5 if 2>1 else 6))*3)": 15,
    "print(3 if 1<2<3 else 4)": 3,
    "print(4 if 2<1<nothing else 5)": 5,  # Python, too, does not look at what it need not
    "a=1\nfor x in range(3):\n\ta*=2\n\tb=a+x\nprint(b)": 10,
    "a=0\nfor x in range(5): a += x; b = a\nprint(b)": 10,
    "for x in range(0):a=1\nprint(5)": 5,
    "for x in range(-2):a=1\nprint(5)": 5,
    "n=3\nfor i in range(n*2):n+=i\nprint(n)": 18,
    "for x in range(3):x+=5\nprint(x)": 7,
    "# a comment, with 'quotes' and é\nprint(1)  # and another": 1,
    "print(1_000)": 1000,
    "\r\nprint(3)\r\n": 3,
    "print(" + "9" * 4300 + ")": 10**4300 - 1,
}

REFUSED = {
    "": (1, 1, "must end in exactly one print"),
    "a=1": (1, 4, "must end in exactly one print"),
    "print(1)\nprint(2)": (2, 1, "comes last"),
    "print(1)\na=2": (2, 1, "comes last"),
    "print(1,2)": (1, 1, "exactly one expression"),
    "print()": (1, 1, "exactly one expression"),
    "print(*a)": (1, 7, "not allowed here"),
    "print(1.5)": (1, 8, "'.' is not part"),
    "print(6652).": (1, 12, "end mark"),
    "print('a')": (1, 7, "not part of this language"),
    "print(7//2)": (1, 8, "'/' is not part"),
    "print(2**3)": (1, 7, "not allowed here"),
    "print(a)": (1, 7, "'a' has no value yet"),
    "a=1\nprint(a+b)": (2, 9, "'b' has no value yet"),
    "k+=1\nprint(k)": (1, 1, "'k' has no value yet"),
    "for x in range(0):a=1\nprint(a)": (2, 7, "'a' has no value yet"),
    "for x in range(2):\n  for y in range(2):a=1\nprint(a)": (2, 3, "loop inside a loop"),
    "for x in range(2):print(x)": (1, 19, "after the loop"),
    "for x in range(1,2):a=1\nprint(a)": (1, 10, "range(n)"),
    "for x in 5:a=1\nprint(a)": (1, 10, "range(n)"),
    "for x in range(2):a=1\nelse:a=2\nprint(a)": (2, 6, "no else"),
    "if 1<2:a=1\nprint(1)": (1, 1, "statement is not allowed"),
    "while 1<2:a=1\nprint(1)": (1, 1, "statement is not allowed"),
    "a=b=1\nprint(a)": (1, 1, "statement is not allowed"),
    "a,b=1,2\nprint(a)": (1, 1, "single variable"),
    "import os\nprint(1)": (1, 1, "statement is not allowed"),
    "print=1\nprint(print)": (1, 1, "has a meaning already"),
    "__debug__=1\nprint(1)": (1, 1, "starts with a letter"),
    "print(1<2)": (1, 7, "only in a condition"),
    "print(1 if 2 else 3)": (1, 12, "not a condition"),
    "print(1 if 1 in 2 else 3)": (1, 12, "compares integers"),
    "print(True)": (1, 7, "not allowed here"),
    "print((a:=3))": (1, 8, "not allowed here"),
    "print(max(1))": (1, 7, "not allowed here"),
    "print(1": (1, 6, "not valid Python"),
    "a=1\n  b=2\nprint(a)": (2, 2, "not valid Python"),
    "print(007)": (1, 7, "not valid Python"),
    "print(0x10)": (1, 8, "letter follows a number"),
    "print(1if 2>1 else 3)": (1, 8, "letter follows a number"),
    "print(٣)": (1, 7, "'٣' is not part"),
    "print(1)\x00": (1, 9, "U+0000"),
    "print(\ud800)": (1, 7, "U+D800"),
    "#\x00\nprint(1)": (1, 2, "U+0000"),
    "print(1)\n#\ud800": (2, 2, "U+D800"),
    "print(print)": (1, 7, "print is not a value"),
}


@pytest.mark.parametrize("text", ACCEPTED)
def test_accepts_what_python_accepts_and_agrees(text: str) -> None:
    assert execute(text) == ACCEPTED[text]
    assert run_in_cpython([text]) == [str(ACCEPTED[text])]


@pytest.mark.parametrize("text", REFUSED)
def test_refuses_with_place_and_reason(text: str) -> None:
    line, column, reason = REFUSED[text]
    with pytest.raises(ProgramError) as caught:
        execute(text)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert reason in caught.value.message
    assert str(caught.value).startswith(f"line {line}, column {column}: ")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("#" * 10_001, "more than 10,000 characters"),
        ("print(1_" + "1_" * 4300 + "1)", "at most 4,300 digits"),
        ("print(" + "9" * 4301 + ")", "at most 4,300 digits"),
        ("a=" + "9" * 4300 + "\nprint(a+1)", "at most 4,300 digits"),
        ("a=" + "9" * 4300 + "\nprint(-a-1)", "at most 4,300 digits"),
        ("a=10\nfor x in range(99):a*=a\nprint(a)", "at most 4,300 digits"),
        ("a=1\nfor x in range(9999):a+=1\nprint(a)", "more than 10,000 steps"),
        ("a=1\nfor x in range(5000):a+=1+1\nprint(a)", "more than 10,000 steps"),
        ("a=" + "9" * 2000 + "\nfor x in range(1000):b=a*a\nprint(b)", "more than 10,000 steps"),
        ("print(" + "-" * 101 + "1)", "at most 100 levels"),
        ("print(" + "-" * 9_000 + "1)", "at most 100 levels"),
        ("print(" + "1+" * 4_000 + "1)", "at most 100 levels"),
    ],
)
def test_each_limit_has_its_own_message(text: str, reason: str) -> None:
    with pytest.raises(ProgramError, match=reason):
        execute(text)


def test_just_below_the_limits() -> None:
    assert execute("a=1\nfor x in range(9998):a+=1\nprint(a)") == 9999
    assert execute("a" + "1" * 4500 + "=3\nprint(a" + "1" * 4500 + ")") == 3
    assert execute("print(" + "-" * 97 + "1)") == -1
    assert execute("#" * 9_990 + "\nprint(1)") == 1


def test_never_echoes_much_of_the_source() -> None:
    long_name = "v" * 5_000
    with pytest.raises(ProgramError) as caught:
        execute(f"print({long_name})")
    assert "v" * 41 not in str(caught.value)


def test_trace_has_a_step_per_executed_line() -> None:
    steps = [(step.line, step.variables) for step in trace("a=1;b=2\nfor x in range(2):\n  a+=b\n  b=x\nprint(a)")]
    assert steps == [
        (1, {"a": 1, "b": 2}),
        (2, {"a": 1, "b": 2, "x": 0}),
        (3, {"a": 3, "b": 2, "x": 0}),
        (4, {"a": 3, "b": 0, "x": 0}),
        (2, {"a": 3, "b": 0, "x": 1}),
        (3, {"a": 3, "b": 0, "x": 1}),
        (4, {"a": 3, "b": 1, "x": 1}),
        (5, {"a": 3, "b": 1, "x": 1}),
    ]


def test_trace_of_a_one_line_loop_has_a_step_per_round() -> None:
    assert [(s.line, s.variables.get("j")) for s in trace("j=1\nfor x in range(3):j+=2\nprint(j)")] == [
        (1, 1),
        (2, 3),
        (2, 5),
        (2, 7),
        (3, 7),
    ]
    assert [s.line for s in trace("for x in range(0):j=2\nprint(1)")] == [1, 2]


def fuzz(candidates: list[str]) -> int:
    """Every text gives a value that CPython prints too, or a ProgramError; tells how many were accepted."""
    accepted: dict[str, int] = {}
    refused: list[tuple[str, ProgramError]] = []
    for text in candidates:
        try:
            accepted[text] = execute(text)
            assert sum(1 for _ in trace(text)) >= 1
        except ProgramError as error:
            refused.append((text, error))
    for text, refusal in refused:
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        assert 1 <= refusal.line <= len(lines), text
        assert 1 <= refusal.column <= len(lines[refusal.line - 1]) + 1, text
        message = str(refusal)
        assert not any(message[i : i + 81] in text for i in range(len(message) - 80)), text
    printed = run_in_cpython(list(accepted))
    for (text, value), output in zip(accepted.items(), printed, strict=True):
        assert output == str(value), text
    return len(accepted)


def test_hostile_texts() -> None:
    assert fuzz(list(HOSTILE)) < len(HOSTILE) / 2


@pytest.mark.parametrize(
    ("count", "seed"), [(4_000, 0), *(pytest.param(20_000, seed, marks=pytest.mark.long) for seed in range(10))]
)
def test_fuzzing(count: int, seed: int) -> None:
    assert fuzz(list(texts(count, seed))) > count / 5
