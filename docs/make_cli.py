"""Write ``cli.md`` from the program's own help: python docs/make_cli.py."""

from pathlib import Path

from click.testing import CliRunner

from evcrisp.cli import VERBS, main

PAGE = Path(__file__).with_name("cli.md")

HEAD = """# Command line

`evcrisp` and `python -m evcrisp` are the same. Results go to standard output, messages and progress (on a terminal) to
standard error. Exit codes: 0 success, 1 failure, 2 wrong usage. This page is the program's own help.
"""


def page() -> str:
    """Return the page."""
    parts = [HEAD]
    for verb in VERBS:
        result = CliRunner().invoke(
            main, [verb, "--help"], prog_name="evcrisp", terminal_width=100, max_content_width=100
        )
        parts.append(f"## evcrisp {verb}\n\n```text\n{result.output}```\n")
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page())
