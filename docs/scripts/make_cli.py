"""Write ``cli.md`` from the program's own help: python docs/scripts/make_cli.py."""

from pathlib import Path

import click
from click.testing import CliRunner

from evcrisp.cli import VERBS, main

PAGE = Path(__file__).parents[1] / "reference" / "cli.md"

HEAD = """# Command line

`evcrisp` and `python -m evcrisp` are the same. Results go to standard output, messages and progress (on a terminal) to
standard error. Exit codes: 0 success, 1 failure, 2 wrong usage, 130 stopped with Ctrl+C, 143 by SIGTERM. This page is the program's own help.

Ctrl+C and SIGTERM end every verb within seconds, and files that are not complete are removed. `run` keeps the windows that are finished, unless
there are older results; `reproduce` and `datasets simulate` go on where they were when the same command is given again. A second
Ctrl+C ends at once.
"""


def page() -> str:
    """Return the page."""
    parts = [HEAD]
    for verb in VERBS:
        parts.append(_help(verb))
        command = main.get_command(click.Context(main), verb)
        if isinstance(command, click.Group):
            parts += [_help(verb, name) for name in command.list_commands(click.Context(command))]
    return "\n".join(parts)


def _help(*words: str) -> str:
    result = CliRunner().invoke(
        main, [*words, "--help"], prog_name="evcrisp", terminal_width=100, max_content_width=100
    )
    return f"## evcrisp {' '.join(words)}\n\n```text\n{result.output}```\n"


if __name__ == "__main__":
    PAGE.write_text(page())
