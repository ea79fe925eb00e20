"""Write ``cli.md`` from the help of the program: python docs/scripts/make_cli.py."""

from pathlib import Path

import click
from click.testing import CliRunner

from evcrisp.cli import COMMANDS, main

PAGE = Path(__file__).parents[1] / "reference" / "cli.md"

HEAD = """# Command line

`evcrisp` and `python -m evcrisp` are the same program. Results go to standard output, messages and
progress (on a terminal) to standard error. Exit codes: 0 success, 1 failure, 2 wrong usage, 130
stopped with Ctrl+C, 143 stopped by SIGTERM.

Ctrl+C and SIGTERM end every command within seconds, and incomplete files are removed. `run` keeps
the finished windows, unless the folder has older results. `live` completes its files. `reproduce` and `datasets` resume when
the same command is given again. A second Ctrl+C ends at once.

The rest of this page is the help of the program.
"""


def page() -> str:
    """Return the page."""
    parts = [HEAD]
    for name in COMMANDS:
        parts.append(_help(name))
        command = main.get_command(click.Context(main), name)
        if isinstance(command, click.Group):
            parts += [_help(name, part) for part in command.list_commands(click.Context(command))]
    return "\n".join(parts)


def _help(*words: str) -> str:
    result = CliRunner().invoke(
        main, [*words, "--help"], prog_name="evcrisp", terminal_width=100, max_content_width=100
    )
    return f"## evcrisp {' '.join(words)}\n\n```text\n{result.output}```\n"


if __name__ == "__main__":
    PAGE.write_text(page())
