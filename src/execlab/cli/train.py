"""The command that trains a network. It has a flag for every field of `Config` and for every built-in option."""

from __future__ import annotations

import json
import os
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from execlab import registry
from execlab.cli.curve import draw
from execlab.cli.options import EXTRA, flag_of, named, parse_extra, trust
from execlab.errors import ExeclabError, UntrustedError, needs_torch
from execlab.files import read_regular
from execlab.training.config import (
    BY_TASK,
    FIELDS,
    PARTS,
    PRESETS,
    SIZES,
    Config,
    built_in_options,
    choices,
    config_from_dict,
    make_config,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from execlab.options import Option


def _flags(command: Callable[..., None]) -> Callable[..., None]:
    """A flag for every field of Config, and for every option of a built-in task, strategy or model."""
    settings: list[tuple[str, Option]] = []
    for each in fields(Config):
        part = each.name.removesuffix("_options")
        if part in PARTS and part != each.name:
            settings += [(part, known) for known in built_in_options(part).values()]
        settings += [("", FIELDS[each.name])] if each.name in FIELDS else []
    for part, setting in reversed(settings):
        presets = f"[{', '.join(_preset_value(preset, part, setting) for preset in PRESETS)}]"
        if setting.name in PARTS:
            option = named(setting.name, choices(setting.name), setting.help)
        else:
            allowed = setting.choices if part else choices(setting.name)
            option = flag_of(setting, f"{setting.help}  {presets}", allowed)
        command = option(command)
    return EXTRA(command)


def _preset_value(preset: str, part: str, setting: Option) -> str:
    """What a preset says about a setting, with its exceptions by task."""
    if part:
        value = getattr(PRESETS[preset], f"{part}_options").get(setting.name, setting.default)
        return f"{preset} {_shown(value)}"
    exceptions = [
        f"{_shown(changes[setting.name])} for {task}"
        for (of, task), changes in BY_TASK.items()
        if of == preset and setting.name in changes
    ]
    value = f"{preset} {_shown(getattr(PRESETS[preset], setting.name))}"
    return f"{value} ({', '.join(exceptions)})" if exceptions else value


def _shown(value: object) -> str:
    return "-" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _config(preset: str | None, size: str | None, file: Path | None, changes: dict[str, Any]) -> Config:
    if file is None:
        return make_config(preset or "laptop", size, **changes)
    if preset is not None or size is not None:
        raise ExeclabError("--config is a whole Config; leave out --preset and --size")
    try:
        content = json.loads(read_regular(file))
    except ExeclabError:
        raise
    except (ValueError, RecursionError):
        raise ExeclabError(f"{file} is not JSON") from None
    settings = content.get("config", content) if isinstance(content, dict) else None
    if not isinstance(settings, dict):
        raise ExeclabError(f"{file} holds no configuration of execlab")
    try:
        stored = config_from_dict(settings)
    except UntrustedError:
        raise
    except ExeclabError as error:
        raise ExeclabError(f"the Config in {file} is not valid: {error}") from None
    registry.trust(*(changes[part] for part in PARTS if registry.is_path(changes.get(part))))
    plain = {name: value for name, value in changes.items() if name in FIELDS}
    nested: dict[str, Any] = {}
    for part in PARTS:
        known = built_in_options(part).keys() | getattr(stored, f"{part}_options").keys()
        mine = {name: value for name, value in changes.items() if name in known and name not in FIELDS}
        nested[f"{part}_options"] = {**getattr(stored, f"{part}_options"), **mine}
    return replace(stored, **plain, **nested)


@click.command()
@click.option("--preset", type=click.Choice(list(PRESETS)), help="Where to start from.  [default: laptop]")
@click.option(
    "--size",
    type=click.Choice(list(SIZES)),
    help="Layers and widths of the model.  [laptop: medium]",
)
@click.option("--config", "file", type=click.Path(path_type=Path), help="Replay the Config in this JSON file.")
@click.option(
    "--out", type=click.Path(path_type=Path), help="The run's folder.  [default: runs/TASK-LENGTHxNESTING-...]"
)
@click.option("--resume", "resumed", type=click.Path(path_type=Path), help="Go on with this run.")
@click.option("--force", is_flag=True, help="Start again in a folder that holds a run.")
@click.option("--tensorboard", is_flag=True, help="Also write event files for TensorBoard.")
@trust
@_flags
def train(
    preset: str | None,
    size: str | None,
    file: Path | None,
    out: Path | None,
    resumed: Path | None,
    force: bool,
    tensorboard: bool,
    extra: tuple[str, ...],
    **settings: Any,
) -> None:
    """Train a network; stop it with Ctrl-C and go on with --resume.

    Every setting of a run is a flag; in brackets stand the values of the presets.
    """
    needs_torch()
    from execlab.training import loop
    from execlab.training.runs import default_folder
    from execlab.training.view import TensorBoard, best_view

    changes = {name: value for name, value in settings.items() if value is not None} | parse_extra(extra)
    view = best_view()
    if resumed is not None:
        if changes or preset or size or file or out or force:
            raise ExeclabError("--resume goes on with a run as it is; leave out the other settings")
        folder = resumed
    else:
        config = _config(preset, size, file, changes)
        folder = out or default_folder(config)
    if tensorboard:
        view = TensorBoard(view, folder)
    if resumed is not None:
        loop.resume(folder, view=view)
    else:
        loop.train(config, folder, force=force, view=view)
    if os.environ.get("RANK", "0") != "0" and os.environ.get("WORLD_SIZE", "1") != "1":
        return  # one of several processes; the first one draws
    draw({folder.name: folder}, folder / "learning_curve.png", folder)
    click.echo(f"wrote {folder}; ask it: execlab predict {folder} ...")


COMMANDS = (train,)
