"""The command about other people's harnesses: integrations."""

from __future__ import annotations

import click

from execlab.integrations import INTEGRATIONS, lm_eval_folder, need


@click.command()
@click.argument("name", required=False, type=click.Choice(list(INTEGRATIONS)))
def integrations(name: str | None) -> None:
    """Say how execlab's tasks are used in a harness for language models.

    With lm-eval: print the folder for its --include_path.
    """
    if name is None:
        for each, (_, use) in INTEGRATIONS.items():
            click.echo(f"{each:14} {use}")
    elif name == "lm-eval":
        click.echo(lm_eval_folder())
    else:
        need(name)
        click.echo(INTEGRATIONS[name].use)


COMMANDS = (integrations,)
