"""Classes from outside are tried before a run begins, so that a broken contract is a sentence and not a traceback.

The trial costs milliseconds. It compares what a class says with what it does: a task's `solve` with its `draw`, a
restored strategy with the one that was saved, a model that reads a batch with one that reads row by row.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from execlab.curriculum import Scores, Tally
from execlab.data.vocabulary import END_MARK, vocabulary_with
from execlab.errors import ExeclabError
from execlab.randomness import stream
from execlab.registry import broken, is_path
from execlab.tasks import Difficulty, Sample, check_difficulty
from execlab.training import weights

if TYPE_CHECKING:
    from collections.abc import Sequence

    from execlab.curriculum import Strategy
    from execlab.models.model import Model, State
    from execlab.tasks import Task
    from execlab.training.config import Config

DRAWS = 23  # prime: what repeats after a few draws shows
EVALUATIONS = 6
CLOSE = 1e-3  # of numbers that two ways of reading give in float32
LENGTHS = (5, 3, 3, 1)  # of the rows that a model is tried on
CHOSEN = (0, 0, 2, 1)  # of those rows, to read on: reordered, one twice, one left out


def check_contracts(config: Config, task: Task, strategy: Strategy, model: Model) -> None:
    """Raise unless what comes from outside does what its contract says."""
    trials = (("task", _try_task, task), ("strategy", _try_strategy, strategy), ("model", _try_model, model))
    for what, trial, part in trials:
        if not is_path(name := getattr(config, what)):
            continue
        try:
            trial(config, task, part)  # type: ignore[arg-type]
        except ExeclabError as error:
            raise ExeclabError(f"the {what} {name} does not keep its contract: {error}") from None
        except Exception as error:
            raise broken(what, name, error) from error


def _try_task(config: Config, task: Task, _: Task) -> None:
    check_difficulty(task, config.goal)
    known = vocabulary_with(task.symbols)
    for number in range(DRAWS):
        easier = Difficulty(*(1 + number % part for part in config.goal))
        plain = task.draw(stream("contract", number), config.goal if number % 2 else easier)
        sample = task.render(plain)
        if not isinstance(sample, Sample):
            raise ExeclabError(f"draw and render must give a Sample, not a {type(sample).__name__}")
        if unknown := sorted(set(sample.input + sample.target) - set(known)):
            letters = "".join(unknown)[:40]
            raise ExeclabError(f"it writes {letters!r}, which is in neither the vocabulary nor its symbols")
        if END_MARK in sample.input + sample.target:
            raise ExeclabError(f"it writes {END_MARK!r}, which is the end mark")
        if odd := sorted(set(sample.target) - set(task.outputs)):
            raise ExeclabError(f"it has a target with {''.join(odd)[:40]!r}, which is not in its outputs")
        if (truth := task.solve(sample.input)) != sample.target:
            raise ExeclabError(f"{sample.input!r} has the target {sample.target!r}, but solve says {truth!r}")
        if (undone := task.plain(sample.input)) != plain.input:
            raise ExeclabError(f"plain gives {undone!r} for the rendered input of {plain.input!r}")
        if (form := task.canonical(plain.input)) != plain.canonical and plain.canonical:
            raise ExeclabError(f"canonical gives {form!r} for {plain.input!r}, and draw says {plain.canonical!r}")
        if plain != task.draw(stream("contract", number), config.goal if number % 2 else easier):
            raise ExeclabError("draw gives another sample for the same rng and difficulty")
        for table, rows in task.groups(sample).items():
            if not isinstance(rows, list) or not all(isinstance(row, str) for row in rows):
                raise ExeclabError(f"its group {table!r} is {rows!r}; it must be a list of words")


def _try_strategy(config: Config, task: Task, strategy: Strategy) -> None:
    """Several evaluations with made-up scores, saved and restored after each."""
    if strategy.goal != config.goal:
        raise ExeclabError(f"its goal is {strategy.goal!r}; it was built for {config.goal}")
    tried = config.make_strategy()
    for evaluation in range(EVALUATIONS):
        drawn = _draws(tried, evaluation)
        asked = [*tried.probes(), *tried.difficulties(), tried.current]
        for difficulty in (*drawn, *asked):
            if not isinstance(difficulty, Difficulty):
                raise ExeclabError(f"it names the difficulty {difficulty!r}, which is not a Difficulty")
            check_difficulty(task, difficulty)
        if tried.difficulties()[-1:] != [config.goal]:
            raise ExeclabError("the last one of its difficulties must be the goal")
        if _draws(tried, evaluation) != drawn:
            raise ExeclabError("draw gives other difficulties for the same rng; only observe may change its state")
        before, restored = json.dumps(tried.state_dict()), config.make_strategy()
        restored.load_state_dict(json.loads(before))
        if json.dumps(restored.state_dict()) != before:
            raise ExeclabError("its state_dict is not the same after going to JSON and back")
        if _draws(restored, evaluation) != drawn:
            raise ExeclabError(
                "it draws other difficulties after load_state_dict; state_dict must hold its whole state"
            )
        accuracy = evaluation / EVALUATIONS
        training = {difficulty: Tally(8, int(80 * accuracy), 80) for difficulty in drawn}
        event = tried.observe(Scores(dict.fromkeys([*asked, config.goal], accuracy), training))
        if event not in (None, "climb", "decay"):
            raise ExeclabError(f'observe gives {event!r}; it must be "climb", "decay" or None')


def _draws(strategy: Strategy, evaluation: int) -> list[Difficulty]:
    return [strategy.draw(stream("contract", evaluation, number)) for number in range(DRAWS)]


def _try_model(config: Config, task: Task, model: Model) -> None:
    """A few rows, read as a batch, one by one, and in two parts; then gradients, and what a checkpoint keeps."""
    vocabulary, rows = len(vocabulary_with(task.symbols)), len(LENGTHS)
    _check_initialization(config, model)
    texts = [[(7 * row + place) % vocabulary for place in range(length)] for row, length in enumerate(LENGTHS)]
    model.eval()
    with torch.no_grad():
        features, state = _read(model, texts, model.start(rows))
        wanted, shape = (sum(LENGTHS), vocabulary), tuple(model.logits(features).shape)
        if shape != wanted:
            raise ExeclabError(f"its logits for {wanted[0]} characters have the shape {shape}; it must be {wanted}")
        shown = model.activations(state)
        for name, part in shown.items():
            if part.dim() != 3 or len(part) != rows:
                raise ExeclabError(
                    f"its activations {name!r} have the shape {tuple(part.shape)}; it must be (rows, layers, units)"
                )
        alone = [_read(model, [text], model.start(1)) for text in texts]
        _check_same(features, _pack([own for own, _ in alone]), "a batch gives other features than its rows one by one")
        for name, part in shown.items():
            own = torch.cat([model.activations(after)[name] for _, after in alone])
            _check_same(part, own, f"a batch gives other activations {name!r} than its rows one by one")
        _, begun = _read(model, [text[:1] for text in texts], model.start(rows))
        once, twice = (_read(model, [[0]] * rows, begun)[0] for _ in range(2))
        _check_same(once, twice, "forward changes the state that it is given")
        rest, _ = _read(
            model, [texts[row][1:] for row in CHOSEN], model.select(begun, torch.tensor(CHOSEN, device=features.device))
        )
        expected = _pack([alone[row][0][1:] for row in CHOSEN])
        _check_same(rest, expected, "reading on from a selected state gives other features than reading at once")
        if config.feed == "stream":
            packed = model.pack_state(state)
            if odd := [name for name, part in packed.items() if len(part) != rows]:
                raise ExeclabError(
                    f"pack_state gives {odd[0]!r} with the shape {tuple(packed[odd[0]].shape)}; rows come first"
                )
            for name, part in model.activations(model.unpack_state(packed)).items():
                _check_same(part, shown[name], "unpack_state gives another state than was packed")
    _check_gradients(model, texts)
    for parameter, blocks in model.matrices():
        if parameter.dim() != 2 or len(parameter) % blocks:
            raise ExeclabError(
                f"matrices gives {tuple(parameter.shape)} in {blocks} blocks; it must be (blocks * n, m)"
            )
    if not isinstance(flops := model.flops_per_character(), int | float):
        raise ExeclabError(f"flops_per_character is {flops!r}; it must be a number")


def _check_initialization(config: Config, model: Model) -> None:
    again = weights.make_model(config)
    again.initialize(config.seed)
    ours = model.state_dict()
    for name, tensor in again.state_dict().items():
        if not torch.equal(ours[name].cpu(), tensor):
            raise ExeclabError(f"initialize gives another {name!r} for the same seed")


def _check_gradients(model: Model, texts: Sequence[Sequence[int]]) -> None:
    learned = {name: parameter for name, parameter in model.named_parameters() if parameter.requires_grad}
    features, _ = _read(model.train(), texts, model.start(len(texts)))
    loss = model.logits(features).logsumexp(-1).sum()
    gradients = torch.autograd.grad(loss, list(learned.values()), allow_unused=True)
    if idle := [name for name, gradient in zip(learned, gradients, strict=True) if gradient is None]:
        raise ExeclabError(f"no gradient reaches its parameter {idle[0]!r}; use it, or set requires_grad to False")


def _read(model: Model, texts: Sequence[Sequence[int]], state: State) -> tuple[Tensor, State]:
    """Features and state after texts, longest first."""
    device, longest = next(model.parameters()).device, len(texts[0])
    ids = torch.tensor([text[step] for step in range(longest) for text in texts if len(text) > step], device=device)
    sizes = torch.tensor([sum(len(text) > step for text in texts) for step in range(longest)])
    features, after = model(ids, sizes, state)
    return features, after


def _pack(rows: Sequence[Tensor]) -> Tensor:
    """What belongs to the characters of rows, longest first, in the order in which a batch has them."""
    return torch.stack([row[step] for step in range(len(rows[0])) for row in rows if len(row) > step])


def _check_same(given: Tensor, expected: Tensor, otherwise: str) -> None:
    near = CLOSE if given.dtype == torch.float32 else 100 * CLOSE
    if given.shape != expected.shape or not torch.allclose(given.float(), expected.float(), atol=near, rtol=near):
        raise ExeclabError(otherwise)
