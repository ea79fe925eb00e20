"""The program ``evcrisp``: one module per command, imported when the command is called."""

import difflib
import importlib
import logging
import sys
from typing import Any

import click

from evcrisp import __version__
from evcrisp.cli.error_messages import error_text, log_text, system_error_text
from evcrisp.cli.signals import Stopped, clean_exit
from evcrisp.core.errors import ConfigError, EvError, UnknownNameError

#: Command -> line of help; here, so that listing the commands imports none of them.
COMMANDS = {
    "info": "Show the contents of a recording.",
    "convert": "Convert a recording to another format.",
    "filter": "Denoise a recording event by event.",
    "filters": "List the filters with their parameters and presets.",
    "methods": "List the methods with their parameters, and the motion models.",
    "run": "Align and denoise a recording, window by window.",
    "live": "Clean events while they come, from a camera's server or a recording.",
    "flow": "Write the flow of every window of a recording to files.",
    "pareto": "Print the trade-off between alignment and denoising of a window.",
    "evaluate": "Measure the quality of a recording, or of the labels of a filter.",
    "view": "View a recording in the browser: raw, aligned, denoised.",
    "plot": "Draw a figure of a recording.",
    "render": "Render a video of a recording: raw, aligned, denoised side by side.",
    "simulate": "Simulate a recording with known motion and labels.",
    "train": "Train the network of a filter on simulated recordings.",
    "datasets": "Check the data sets of the paper, or simulate data sets with their layout.",
    "bench": "Measure methods on own recordings and public data sets, on one page.",
    "reproduce": "Reproduce the tables of the paper, next to the published numbers.",
    "tune": "Tune the parameters of methods for a noise rate on a training split.",
    "demo": "Align and denoise a simulated scene, and print the accuracy.",
}


#: Commands in the folder `commands/experiments`; the others are in `commands`.
_EXPERIMENTS = ("bench", "datasets", "reproduce", "tune")


class LazyGroup(click.Group):
    """Group that imports a command when it is called, and prints errors as messages."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List the commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in COMMANDS:
            return None
        folder = "commands.experiments" if cmd_name in _EXPERIMENTS else "commands"
        module = importlib.import_module(f"evcrisp.cli.{folder}.{cmd_name}")
        command: click.Command = getattr(module, f"{cmd_name}_command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; suggest a similar name if it is unknown."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            close = difflib.get_close_matches(args[0], COMMANDS, n=1)
            if not close or args[0].startswith("-"):
                raise
            guess = f"No such command {args[0]!r}. Did you mean {close[0]!r}?"
            raise click.UsageError(guess, ctx) from error

    def make_context(
        self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any
    ) -> click.Context:
        """Parse the options before the command; help and version are printed here."""
        try:
            return super().make_context(info_name, args, parent, **extra)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise click.ClickException(system_error_text(error)) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; print known errors as one line, with exit code 1 or 2."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise
        except KeyboardInterrupt as error:
            raise Stopped("Incomplete files are removed.") from error
        except MemoryError as error:
            raise click.ClickException("Out of memory. Try a smaller sensor or window.") from error
        except EvError as error:
            called = self._called(ctx)
            text = error_text(error, called.command)
            if isinstance(error, (ConfigError, UnknownNameError)):
                raise click.UsageError(text, called) from error
            raise click.ClickException(text) from error
        except OSError as error:
            raise click.ClickException(system_error_text(error)) from error

    def _called(self, ctx: click.Context) -> click.Context:
        """Return the context of the command that was called, for its usage line."""
        name = ctx.invoked_subcommand
        command = None if name is None else self.get_command(ctx, name)
        return ctx if command is None else click.Context(command, info_name=name, parent=ctx)


class _MessageHandler(logging.Handler):
    """Writes to the current standard error, which a progress bar redirects."""

    def emit(self, record: logging.LogRecord) -> None:
        if sys.stderr is not None:
            context = click.get_current_context(silent=True)
            text = log_text(record, None if context is None else context.command)
            click.echo(f"{record.levelname.capitalize()}: {text}", file=sys.stderr)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", prog_name="evcrisp")
def main() -> None:
    """Read, convert, simulate, align and denoise recordings of event cameras.

    Results go to standard output, messages and progress to standard error. Exit codes: 0 success,
    1 failure, 2 wrong usage, 130 stopped with Ctrl+C.
    """
    package_logger = logging.getLogger("evcrisp")
    package_logger.handlers[:] = [_MessageHandler()]
    package_logger.propagate = False
    package_logger.setLevel(logging.INFO)
    click.get_current_context().with_resource(clean_exit())
