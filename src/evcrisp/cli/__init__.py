"""The command ``evcrisp``: one verb per file, each loaded when it is called."""

import importlib
import logging
import sys
from typing import Any

import click

from evcrisp import __version__
from evcrisp.errors import EvError

#: Verb -> line of help. It stands here so that listing the verbs loads none of them.
VERBS = {
    "info": "Show what a recording holds.",
    "convert": "Convert a recording to another format.",
    "simulate": "Simulate a recording whose truth is known.",
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
        module = importlib.import_module(f"evcrisp.cli.{cmd_name}")
        command: click.Command = getattr(module, f"{cmd_name}_command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of verbs without loading them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(VERBS.items()))

    def invoke(self, ctx: click.Context) -> Any:
        """Run; an error of ours or of the file system becomes one line and exit code 1."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise
        except (EvError, OSError) as error:
            raise click.ClickException(_one_line(error)) from error


def _one_line(error: Exception) -> str:
    text = str(error).replace('on_error="truncate"', "--on-error truncate")
    text = text.replace("Choose another name, or allow overwriting.", "Use --force to replace it.")
    if isinstance(error, MemoryError):
        return "Out of memory."
    return text.replace("Give `resolution` if", "Use --resolution if")


class _MessageFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        text = record.getMessage().replace("Give `resolution` if", "Use --resolution WxH if")
        return f"{record.levelname.capitalize()}: {text}"


def _messages_to_stderr() -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_MessageFormatter())
    package_logger = logging.getLogger("evcrisp")
    package_logger.handlers[:] = [handler]
    package_logger.propagate = False


@click.group(cls=VerbGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", prog_name="evcrisp")
def main() -> None:
    """Sharp and clean events: read, convert, simulate and denoise event camera recordings.

    Results go to standard output, messages and progress to standard error. Exit codes: 0 success,
    1 failure, 2 wrong usage.
    """
    _messages_to_stderr()
