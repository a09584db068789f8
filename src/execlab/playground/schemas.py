"""What the server takes and gives, as /openapi.json documents it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

MAX_INPUT = 2_000  # characters of an input
MAX_STEPS = 500  # lines of a trace that are sent
MAX_TRACE = 200_000  # characters of it
MAX_STATES = 500  # characters, read and printed, whose states are asked for
MAX_OUTPUT = 500  # characters of an output that is teacher-forced
MAX_LENGTH, MAX_NESTING = 200, 10  # of a sample; the task says how much of it it allows
MAX_DIFFICULTIES = 200  # of the distribution in a line of metrics
MAX_NAME = 200  # characters of a task's name
MAX_SEED = 2**53 - 1  # what JavaScript can say exactly
PROGRAM = "a=7\nfor x in range(3):a+=12\nprint((a-5))"
EVENT = {
    "type": "object",
    "required": ["event", "data"],
    "properties": {"event": {"enum": ["metrics", "reset", "end"]}, "data": {"type": "string"}},
}


class Strict(BaseModel):
    """A request: nothing but what is documented, of just that type."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Problem(BaseModel):
    """Why a request was refused: a sentence, and where in the input, if it is there."""

    detail: str
    line: int | None = None
    column: int | None = None


class Health(BaseModel):
    """The server is alive."""

    status: Literal["ok"]
    version: str
    models: int
    runs: bool = Field(description="Whether the server was given a folder of runs.")


class Finite(BaseModel):
    """Read from files, and JSON has no NaN."""

    model_config = ConfigDict(allow_inf_nan=False)


class Accuracy(Finite):
    """An accuracy with its 95 % interval over n samples."""

    value: float
    low: float
    high: float
    n: int


class Model(BaseModel):
    """A model that can be asked."""

    id: str
    name: str
    task: str
    length: int
    nesting: int
    max_nesting: int = Field(description="The largest nesting that its task knows.")
    strategy: str
    parameters: int
    layers: int
    cells: int
    modification: str = Field(description="What is done to the input before the model reads it; empty: nothing.")
    scramble: int | None
    accuracies: dict[str, Accuracy] = Field(description="On the test split, at the model's own difficulty.")
    data_version: int = Field(description="Of the samples that it was trained and scored on.")
    shipped: bool


class Sample(BaseModel):
    """A sample."""

    task: str
    length: int
    nesting: int
    seed: int
    input: str
    target: str


class Execute(Strict):
    """An input of a task: a program for the interpreter, digits to memorize, ..."""

    input: str = Field(max_length=MAX_INPUT, examples=[PROGRAM])
    task: str = Field("program", max_length=MAX_NAME, description="A task of /api/models.")


class Step(BaseModel):
    """An executed line and the variables after it, as text: JavaScript has no integers of any length.

    Of an integer with more than about 60 digits only their number is given.
    """

    line: int
    variables: dict[str, str]


class Executed(BaseModel):
    """The truth."""

    output: str
    trace: list[Step]
    truncated: bool = Field(
        description=f"Whether the trace is cut off: after {MAX_STEPS} steps, or {MAX_TRACE:,} characters of variables."
    )


class Checked(BaseModel):
    """The truth, or what is wrong with the text: for an editor, to which both are good answers."""

    executed: Executed | None
    problem: Problem | None


class Predict(Strict):
    """A question to a model."""

    model: str = Field(max_length=500, examples=["program-2x1"])
    input: str = Field(max_length=MAX_INPUT, examples=[PROGRAM])
    teacher_forced: bool = Field(False, description="Give the model the correct characters before each position.")
    states: bool = Field(False, description="Also give what the model shows after every character (an LSTM: h and c).")


class Alternative(BaseModel):
    """Another character that could have been printed."""

    character: str
    probability: float


class Character(BaseModel):
    """A printed character; `alternatives` are all other characters of the vocabulary, the likeliest first."""

    character: str
    probability: float
    alternatives: list[Alternative]


class States(BaseModel):
    """The state after every character of `characters`: what was read, the input's end mark, then the output."""

    characters: str
    activations: dict[str, list[list[list[float]]]] = Field(
        description="What the model shows, by name (an LSTM: h and c): [layer][character][unit]"
    )


class Predicted(BaseModel):
    """The model's output. The end mark is the last of `characters`, and is left out of `prediction`."""

    prediction: str
    target: str
    correct: bool
    read: str = Field(description="The input as the model read it (inverted, doubled, scrambled).")
    outside: str | None = Field(description="In which way the input is harder than what the model was trained on.")
    characters: list[Character]
    states: States | None


class Run(Finite):
    """A run folder."""

    id: str
    task: str
    length: int
    nesting: int
    strategy: str
    seed: int
    finished: bool
    samples: int
    teacher_forced_accuracy: float | None = Field(description="The last one on validation, at the goal.")
    problem: str | None = Field(description="Why the folder cannot be read, if it cannot.")


class Grid(BaseModel):
    """A folder of a reproduced experiment."""

    id: str
    experiment: str
    rows: list[dict[str, Any]]


class Alphabet(BaseModel):
    """The vocabulary, and the character that stands for each when it is scrambled."""

    vocabulary: str
    scrambled: str
    seed: int
