"""The command ``evcrisp``: one verb per file, each loaded when it is called."""

import difflib
import importlib
import logging
import sys
from typing import Any

import click

from evcrisp import __version__
from evcrisp.cli.error_messages import for_the_shell, of_the_system
from evcrisp.cli.signals import Stopped, ending_cleanly
from evcrisp.core.errors import ConfigError, EvError, UnknownNameError

#: Verb -> line of help. It stands here so that listing the verbs loads none of them.
VERBS = {
    "info": "Show what a recording holds.",
    "convert": "Convert a recording to another format.",
    "filter": "Denoise a recording event by event.",
    "filters": "List the filters, with their parameters and presets.",
    "methods": "List the methods with their parameters, and the motion models.",
    "run": "Align and denoise a recording, window by window.",
    "pareto": "Print the trade-off between alignment and denoising of a window.",
    "evaluate": "Measure a recording, or what a denoiser made of it.",
    "view": "See a recording in the browser: raw, aligned, denoised.",
    "plot": "Draw a figure of a recording.",
    "render": "Make a video of a recording: raw, aligned, denoised side by side.",
    "simulate": "Simulate a recording whose truth is known.",
    "train": "Train the network of a denoiser on simulated recordings.",
    "datasets": "Check data sets, or simulate those of the paper.",
    "reproduce": "Make the paper's tables again, with its numbers beside ours.",
    "tune": "Find hyper-parameters for a rate of noise on a training split.",
    "demo": "Simulate a noisy scene, clean it, and print how well that went.",
}


class VerbGroup(click.Group):
    """Loads a verb's module when the verb is asked for, and turns our errors into messages."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List the verbs."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load one verb."""
        if cmd_name not in VERBS:
            return None
        module = importlib.import_module(f"evcrisp.cli.commands.{cmd_name}")
        command: click.Command = getattr(module, f"{cmd_name}_command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb, or say which one may be meant."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            close = difflib.get_close_matches(args[0], VERBS, n=1)
            if not close or args[0].startswith("-"):
                raise
            guess = f"No such command {args[0]!r}. Did you mean {close[0]!r}?"
            raise click.UsageError(guess, ctx) from error

    def make_context(
        self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any
    ) -> click.Context:
        """Read the words before the verb; help and version are printed here, perhaps in vain."""
        try:
            return super().make_context(info_name, args, parent, **extra)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise click.ClickException(of_the_system(error)) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of verbs without loading them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(VERBS.items()))

    def invoke(self, ctx: click.Context) -> Any:
        """Run; an error of ours or of the system becomes one line, with exit code 1 or 2."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise
        except KeyboardInterrupt as error:
            raise Stopped("Files that were not complete are removed.") from error
        except (ConfigError, UnknownNameError) as error:
            verb = self._verb(ctx)
            raise click.UsageError(for_the_shell(str(error), verb.command), verb) from error
        except MemoryError as error:
            raise click.ClickException("Out of memory. Try a smaller sensor or window.") from error
        except EvError as error:
            text = for_the_shell(str(error), self._verb(ctx).command)
            raise click.ClickException(text) from error
        except OSError as error:
            raise click.ClickException(of_the_system(error)) from error

    def _verb(self, ctx: click.Context) -> click.Context:
        """Return the context of the verb that was called, for its usage."""
        name = ctx.invoked_subcommand
        command = None if name is None else self.get_command(ctx, name)
        return ctx if command is None else click.Context(command, info_name=name, parent=ctx)


class _MessageHandler(logging.Handler):
    """Writes to what standard error is at the moment, so that a progress bar can step aside."""

    def emit(self, record: logging.LogRecord) -> None:
        if sys.stderr is not None:
            context = click.get_current_context(silent=True)
            text = for_the_shell(record.getMessage(), None if context is None else context.command)
            click.echo(f"{record.levelname.capitalize()}: {text}", file=sys.stderr)


def _messages_to_stderr() -> None:
    package_logger = logging.getLogger("evcrisp")
    package_logger.handlers[:] = [_MessageHandler()]
    package_logger.propagate = False


@click.group(cls=VerbGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", prog_name="evcrisp")
def main() -> None:
    """Sharp and clean events: read, convert, simulate and denoise event camera recordings.

    Results go to standard output, messages and progress to standard error. Exit codes: 0 success,
    1 failure, 2 wrong usage, 130 stopped with Ctrl+C.
    """
    _messages_to_stderr()
    click.get_current_context().with_resource(ending_cleanly())
