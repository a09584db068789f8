"""The one training loop: draw, step, sometimes evaluate, maybe climb or decay, log, maybe checkpoint.

`Run` (state.py) is the whole state of a run between two steps. A checkpoint holds all of it, and batches are
functions of (seed, step, strategy), so a resumed run continues to the same bits as one that was never interrupted.
"""

from __future__ import annotations

import math
import signal
import threading
import time
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import nn

from execlab.curriculum import Scores, Tally
from execlab.data.batches import AlignedFeed, Lesson, StreamFeed
from execlab.data.sampling import Source
from execlab.errors import ExeclabError
from execlab.evaluation.decoding import Reader, answer
from execlab.evaluation.scores import exact, teacher_forced, whole
from execlab.models import model_class
from execlab.training import checkpoints, hardware, metrics, parallel, runs, weights
from execlab.training.ahead import draw_ahead
from execlab.training.contracts import check_contracts
from execlab.training.locking import locked_run
from execlab.training.optimizers import make_optimizer
from execlab.training.prompt import prompt_of
from execlab.training.state import Run
from execlab.training.transfer import resolve_weights, start_with_weights
from execlab.training.view import View

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from execlab.curriculum import Strategy
    from execlab.data.batches import Batch
    from execlab.models.model import Model
    from execlab.tasks import Difficulty, Sample
    from execlab.training.config import Config
    from execlab.training.parallel import Ranks


ALONE = parallel.Ranks()


def train(config: Config, out: str | Path | None = None, *, force: bool = False, view: View | None = None) -> Path:
    """Train a new run in the folder `out` (below runs/ if none is named); gives the folder."""
    folder = runs.default_folder(config) if out is None else Path(out)
    ranks = parallel.join(config.batch)
    if ranks.leads:
        runs.check_free(folder, force=force)  # before anything in it is touched
    run = new_run(resolve_weights(hardware.resolve(config)), folder, ranks)
    start_with_weights(run.model, run.config)
    with locked_run(folder) if ranks.leads else nullcontext(run.check) as run.check:
        if ranks.leads:
            runs.create(folder, run.config, count_parameters(run.model), force=force)
            metrics.keep_metrics(folder, -1, run.check)
        run.save()
        _train(run, view if view and ranks.leads else View())
    return folder


def resume(out: str | Path, *, view: View | None = None) -> Path:
    """Go on with a run from its newest whole checkpoint."""
    folder = Path(out)
    about = runs.read_about(folder)
    config = about.config
    runs.check_resumable(about, folder)
    ranks = parallel.join(config.batch)
    view = view if view and ranks.leads else View()
    with locked_run(folder) if ranks.leads else nullcontext(lambda: None) as check:
        newest = checkpoints.newest(folder / "checkpoints")
        weights.check_checkpoint(config, newest.data, newest.path)  # before anything is built
        run = new_run(config, folder, ranks)
        run.check = check
        run.restore(newest.load())
        if ranks.leads:
            for complaint in checkpoints.set_aside(newest.damaged, folder):
                view.say(complaint)
        for difference in hardware.differences(about, run.config):
            view.say(difference)
        done = run.counters.finished
        if done and (folder / "report.json").exists():
            view.say(f"{folder} is finished: {done}")
            return folder
        if ranks.leads:
            if damaged := metrics.damaged_metrics(folder):
                view.say(f"metrics.jsonl has {damaged} damaged line{'s' * (damaged > 1)}, left out")
            metrics.keep_metrics(folder, newest.step, check)
        view.say(f"resuming {folder} from step {newest.step:,}")
        _train(run, view)
    return folder


def count_parameters(model: nn.Module) -> int:
    """How many numbers are learned."""
    return sum(parameter.numel() for parameter in model.parameters())


def new_run(config: Config, folder: Path, ranks: Ranks = ALONE) -> Run:
    """A run before its first step; nothing is written."""
    device = hardware.claim(config)
    torch.set_deterministic_debug_mode("error")  # use_deterministic_algorithms would import the compiler: seconds
    # Everything here is written before it is read, and filling costs a twelfth of a step.
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    if config.feed == "stream" and not model_class(config.model).carries_state:
        raise ExeclabError(f"the model {config.model} reads whole samples, not an endless stream: say --feed aligned")
    model = weights.make_model(config)
    model.initialize(config.seed)
    model.to(device)
    strategy = config.make_strategy()
    check_contracts(config, config.make_task(), strategy, model)
    return Run(config, folder, device, model, make_optimizer(config, model), strategy, ranks)


def make_feed(config: Config, strategy: Strategy) -> AlignedFeed | StreamFeed:
    """The samples of a run, as batches."""
    lesson = Lesson(config.make_task(), strategy, config.strategy, config.scramble, config.data_seed)
    if config.feed == "aligned":
        return AlignedFeed(lesson, config.batch)
    return StreamFeed(lesson, config.batch, config.window, config.evaluate_every)


def _train(run: Run, view: View) -> None:
    """Train from the current step to the end."""
    config, counters = run.config, run.counters
    feed = make_feed(config, run.strategy)
    ahead: dict[int, Batch] = {}
    view.begin(config, count_parameters(run.model), counters.step)
    with view, _stop_signal() as stopped:
        while not counters.finished:
            begin = time.perf_counter()
            batch = ahead.pop(counters.step, None) or feed.batch(counters.step)
            draw_ahead(run, feed, ahead)
            loss, tallies = step(run, batch)
            if not math.isfinite(loss):
                raise ExeclabError(
                    f"the loss became {loss} at step {counters.step}; the last good checkpoint is kept in "
                    f"{run.folder}. A smaller learning rate usually helps"
                )
            counters.step += 1
            counters.samples += batch.samples
            counters.characters += len(batch.ids)
            counters.loss += loss
            counters.count(tallies)
            counters.seconds += time.perf_counter() - begin
            counters.finished = run.end()
            view.advance(counters.step, counters.characters, run.used())

            if counters.step % config.evaluate_every == 0 or counters.finished:
                evaluate(run, view)
                if counters.evaluations % config.checkpoint_every == 0 or counters.finished:
                    run.save()
            (stops,) = run.ranks.add(float(stopped.is_set()))
            if stops and not counters.finished:
                run.save()
                view.say(f"stopped at step {counters.step:,}; go on with: execlab train --resume {run.folder}")
                raise KeyboardInterrupt
    if run.ranks.leads:
        _finish(run, view)


def step(run: Run, batch: Batch) -> tuple[float, dict[Difficulty, Tally]]:
    """One step of learning; gives the summed loss, and by difficulty the right characters and how many count."""
    config, model, ranks = run.config, run.model, run.ranks
    share = ranks.share(batch)
    state = model.start(int(share.batch_sizes[0])) if run.carried is None else run.carried
    places = np.flatnonzero(share.targets >= 0)
    target = torch.from_numpy(share.targets[places]).to(run.device)
    model.train()
    hardware.seed_chance(run.device, config.seed, "step", run.counters.step, ranks.rank)
    ids = torch.from_numpy(share.ids).to(run.device)
    features, state = model(ids, torch.from_numpy(share.batch_sizes), state)
    logits = model.logits(features.index_select(0, torch.from_numpy(places).to(run.device)))  # where an answer counts
    loss = nn.functional.cross_entropy(logits.float(), target, reduction="sum")
    counts = np.bincount(batch.groups[batch.targets >= 0], minlength=len(batch.drawn))  # of all ranks
    counted = int(counts.sum())
    run.optimizer.zero_grad(set_to_none=True)
    # paper: the sum over the window divided by the rows; aligned: the mean over output characters
    (loss / (config.batch if config.feed == "stream" else max(counted, 1))).backward()  # type: ignore[no-untyped-call]
    ranks.add_gradients(list(model.parameters()))
    if model.kernel is None:
        nn.utils.clip_grad_norm_(model.parameters(), config.clip)
    else:
        model.kernel.clip([p.grad for p in model.parameters() if p.grad is not None], config.clip)
    for group in run.optimizer.param_groups:
        group["lr"] = run.rate()
    run.optimizer.step()
    if config.feed == "stream":
        run.carried = model.unpack_state({name: part.detach() for name, part in model.pack_state(state).items()})
    hits = (logits.argmax(-1) == target).cpu().numpy()
    mine = np.bincount(share.groups[places][hits], minlength=len(batch.drawn))
    total, *right = ranks.add(loss.item(), *mine.tolist())
    tallies = zip(batch.drawn.items(), right, counts.tolist(), strict=True)
    return total, {difficulty: Tally(samples, int(r), c) for (difficulty, samples), r, c in tallies}


def reader_of(config: Config, model: Model) -> Reader:
    """The model as it reads samples one by one."""
    return Reader(model, prompt_of(config), weights.vocabulary_of(config))


def validation_samples(config: Config, difficulty: Difficulty, count: int) -> list[Sample]:
    """The validation samples of a run at a difficulty: always the same."""
    source = Source(
        config.make_task(), difficulty, "validation", config.data_seed, scramble=config.scramble, purpose="validation"
    )
    return [row.sample for row in source.rows(stop=count)]


def evaluate(run: Run, view: View) -> None:
    """Score on validation what the strategy asks for and the goal, log it, and let the strategy decide."""
    config, counters, strategy = run.config, run.counters, run.strategy
    reader = reader_of(config, run.model)
    current = strategy.current
    accuracies = dict.fromkeys([current, *strategy.probes(), config.goal], 0.0)
    matches = dict(accuracies)
    for difficulty in accuracies if run.ranks.leads else ():
        samples = validation_samples(config, difficulty, config.evaluate_count)
        answers = answer(reader, samples, free_running=False)
        accuracies[difficulty] = teacher_forced(samples, answers).value
        matches[difficulty] = exact(whole(samples, answers)).value
    scored = run.ranks.broadcast(*accuracies.values(), *matches.values())
    accuracies = dict(zip(accuracies, scored, strict=False))
    matches = dict(zip(matches, scored[len(matches) :], strict=True))
    scores = Scores(accuracies, counters.training(), matches)
    measured = metrics.Metrics(
        step=counters.step,
        samples=counters.samples,
        characters=counters.characters,
        seconds=round(counters.seconds, 3),
        length=current.length,
        nesting=current.nesting,
        learning_rate=run.rate(),
        loss=counters.loss / max(sum(tally.counted for tally in scores.training.values()), 1),
        training_teacher_forced_accuracy=scores.training_accuracy,
        current_teacher_forced_accuracy=accuracies[current],
        goal_teacher_forced_accuracy=accuracies[config.goal],
        goal_exact_match=matches[config.goal],
        distribution=_distribution(scores.training) if strategy.adaptive else None,
    )
    counters.loss, counters.tallies = 0.0, []
    counters.evaluations += 1
    if strategy.observe(scores) == "decay" and config.schedule == "paper":
        counters.decays += 1
        counters.finished = counters.finished or run.end()
    if not run.ranks.leads:
        return
    run.check()
    metrics.append_metrics(run.folder, measured)
    view.evaluated(measured, lambda: _show(reader, config, current))


def _distribution(training: Mapping[Difficulty, Tally]) -> metrics.Shares:
    """The share of each difficulty among the training samples since the last evaluation."""
    everything = max(sum(tally.samples for tally in training.values()), 1)
    return tuple((*difficulty, round(tally.samples / everything, 4)) for difficulty, tally in training.items())


def _show(reader: Reader, config: Config, difficulty: Difficulty) -> list[tuple[Sample, str]]:
    samples = validation_samples(config, difficulty, 3)
    answers = answer(reader, samples)
    return [(sample, printed.free_running) for sample, printed in zip(samples, answers, strict=True)]


def _finish(run: Run, view: View) -> None:
    """The weights, the test score (once), the report."""
    from execlab.training.report import write_report

    weights.save_model(run.folder, run.config, run.model, run.check)
    view.say(f"training is over: {run.counters.finished}")
    write_report(run.folder, run.config, reader_of(run.config, run.model), run.counters, view.say, run.check)


@contextmanager
def _stop_signal() -> Iterator[threading.Event]:
    """Set by the first Ctrl-C or SIGTERM; a second one interrupts at once."""
    stopped = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stopped
        return

    def stop(_number: int, _frame: object) -> None:
        if stopped.is_set():
            raise KeyboardInterrupt
        stopped.set()

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
