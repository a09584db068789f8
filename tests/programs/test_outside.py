"""What a network was trained on, and what lies outside: nothing generated is, and what people type is named."""

from __future__ import annotations

import pytest

from execlab.programs import Dialect, generate_program
from execlab.programs.layout import indent_loops
from execlab.programs.outside import outside
from execlab.randomness import stream


@pytest.mark.parametrize("dialect", ["released", "appendix", "everyday"])
def test_nothing_that_is_generated_is_outside(dialect: Dialect) -> None:
    for i in range(2_000):
        length, nesting = 1 + i % 5, 1 + i % 4
        text = generate_program(stream("outside", i), length, nesting, dialect)[0]
        assert outside(text, dialect, (length, nesting)) is None, text
        assert outside(text, dialect, (length + 1, nesting + 1)) is None, text
        if dialect != "everyday":
            assert outside(indent_loops(text), dialect, (length, nesting)) is None, text


@pytest.mark.parametrize("dialect", ["released", "appendix", "everyday"])
def test_harder_programs_are_outside(dialect: Dialect) -> None:
    flagged = 0
    for i in range(300):
        text = generate_program(stream("harder", i), 5, 4, dialect)[0]
        flagged += outside(text, dialect, (4, 3)) is not None
    assert flagged > (100 if dialect == "everyday" else 200)  # identities use up nesting and change nothing


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("print(2+2)", "it is written as print((2+2)) in"),
        ("print( (2+2) )", "it is written as print((2+2)) in"),
        ("a=2\nprint((a+2))", "it is written as a=2;\nprint((a+2)) in"),
        ("z=2;\nprint((z+2))", "it has the name 'z', and the model knows a, b"),
        ("print((-2+5))", "it has a sign before"),
        ("print((12345+5))", "it has the number 12345, and the model was trained on numbers from 1 to 10000"),
        ("print((0+5))", "it has the number 0,"),
        ("print((99*98))", "it repeats or multiplies 98 times, and the model was trained on up to 16"),
        ("print((1 if 2>=1 else 3))", "it compares with >=,"),
        ("print(((1+2)+3))", "it has 2 operations, and the model was trained on 1"),
        ("a=1\nfor x in range(2):\n  a+=1\n  a-=2\nprint(a)", "it has 2 operations"),
        ("a=1\na+=2\nprint(a)", "it changes a variable outside a loop"),
        ("a=1\nfor x in range(2):a*=3\nprint(a)", "it has *="),
        ("a=1;\nb=2;\nprint((a*b))", "it multiplies two results"),
    ],
)
def test_what_people_type_into_a_model_of_the_paper(text: str, sentence: str) -> None:
    assert str(outside(text, "released", (4, 1))).startswith(sentence)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("print(2+2)", None),
        ("x = 5\ny = 10\nprint(x+y)", None),
        ("total=0\nfor i in range(5):\n    total += i\nprint(total)", None),
        ("print(1234+1)", "it has the number 1234, and the model was trained on up to 3 digits"),
        ("print(1+2+3+4+5)", "it has 4 operations, and the model was trained on 3"),
        ("cat = 5\nprint(cat)", "it has the name 'cat'"),
        ("a=1 # one\nprint(a)", "it has a comment"),
        ("n=3\na=0\nfor i in range(n): a+=1\nprint(a)", None),
        ("n=3\na=0\nfor i in range(n+1): a+=1\nprint(a)", "it computes how long its loop is"),
        ("a=0\nfor i in range(50): a+=1\nprint(a)", "its loop has 50 rounds, and the model was trained on up to 10"),
        ("print(1 if 1<2<3 else 0)", "it compares more than two"),
    ],
)
def test_what_people_type_into_a_model_of_everyday_programs(text: str, sentence: str | None) -> None:
    said = outside(text, "everyday", (3, 3))
    assert said is None if sentence is None else str(said).startswith(sentence)
