"""Tasks that break their contract."""

import random
from dataclasses import dataclass

from execlab.tasks import Difficulty, Sample, Task


@dataclass(frozen=True)
class Copy(Task):
    """Print the input: keeps the contract, so that each class below breaks it in its own way alone."""

    name = "copy"
    hardest = Difficulty(9)

    def draw(self, rng, difficulty):
        digits = str(rng.getrandbits(20)).zfill(9)[: difficulty.length]
        return Sample(digits, digits)

    def solve(self, input):
        return input


class Lazy(Task):
    name = "lazy"
    hardest = Difficulty(9)

    def solve(self, input):
        return input


class Nameless(Task):
    def draw(self, rng, difficulty):
        return Sample("1", "1")

    def solve(self, input):
        return input


class Pairs(Copy):
    def draw(self, rng, difficulty):
        return ("1", "1")


class Liar(Copy):
    def solve(self, input):
        return input + "0"


class Foreign(Copy):
    def draw(self, rng, difficulty):
        return Sample("?1", "1")


class Accented(Copy):
    symbols = "é"


class Pointed(Copy):
    def draw(self, rng, difficulty):
        return Sample("1.5", "2")


class Wordy(Copy):
    def draw(self, rng, difficulty):
        return Sample("b", "b")


class Forgetful(Copy):
    def render(self, sample):
        return sample._replace(input=f"{sample.input}+{sample.input}")

    def solve(self, input):
        return input.partition("+")[0]


class Fickle(Copy):
    def draw(self, rng, difficulty):
        digits = str(random.random())[2:8]
        return Sample(digits, digits)


class Grouped(Copy):
    def groups(self, sample):
        return {"digits": sample.input[0]}


class Failing(Copy):
    def solve(self, input):
        return str(1 / 0)


@dataclass(frozen=True)
class Refusing(Copy):
    def __post_init__(self):
        raise ValueError("not today")


@dataclass(frozen=True)
class Listed(Copy):
    sizes: tuple = (1, 2)
