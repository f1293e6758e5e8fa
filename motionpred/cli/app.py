"""The application: its commands, and how an error becomes a message and an exit code."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from motionpred import __version__
from motionpred.cli import (
    bench,
    demo,
    doctor,
    evaluate,
    inspect,
    models,
    predict,
    prepare,
    render,
    synthesize,
    train,
)
from motionpred.cli.console import err
from motionpred.errors import ConfigError, MotionpredError

OK, FAILED, USAGE, PARTIAL, INTERRUPTED = 0, 1, 2, 3, 130


class _Group(TyperGroup):
    """Turns errors that motionpred raises on purpose into one line and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except MotionpredError as error:
            err.print(f"[bold red]error:[/] {_escaped(error)}", highlight=False, soft_wrap=True)
            raise typer.Exit(USAGE if isinstance(error, ConfigError) else FAILED) from error
        except KeyboardInterrupt as error:
            err.print("interrupted; the same command goes on where it stopped", highlight=False)
            raise typer.Exit(INTERRUPTED) from error
        except BrokenPipeError as error:  # the reader of a pipe has seen enough
            sys.stderr.close()
            raise typer.Exit(OK) from error


def _escaped(error: MotionpredError) -> str:
    from rich.markup import escape

    return escape(str(error))


app = typer.Typer(
    cls=_Group,
    name="motionpred",
    help="Joint multi-agent trajectory forecasting for driving scenes.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    epilog="Exit codes: 0 all done, 1 failed, 2 wrong usage, 3 done in part.",
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"motionpred {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


_COMMANDS = (
    demo, prepare, inspect, synthesize, train, evaluate, predict, render, models, doctor, bench,
)  # fmt: skip
for _module in _COMMANDS:
    app.command(_module.NAME)(_module.command)


def main() -> None:
    """Entry point of the console script."""
    app()
