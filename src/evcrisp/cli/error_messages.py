"""How the library puts it, and how the command line does."""

import errno

import click

_WORDS = {
    'on_error="truncate"': "--on-error truncate",
    "Choose another name, or allow overwriting.": "Use --force to replace it.",
    "Give `resolution` if": "Use --resolution WxH if",
    "name one with `format`": "name one with --to",
    "give format='evt3', 'evt2' or 'evt21'": "give --format evt3, evt2 or evt21",
    "`uniform_hz`": "--noise-hz",
    "`uniform_share`": "--noise-share",
}


def for_the_shell(text: str, command: click.Command | None = None) -> str:
    """Return a message with the names of options in place of those of arguments.

    An option whose value goes to the library under a name is declared with that name: `n_points` is
    --points where the command says ``click.option("--points", "n_points")``.
    """
    for library, shell in _WORDS.items():
        text = text.replace(library, shell)
    for parameter in () if command is None else command.params:
        if isinstance(parameter, click.Option):
            text = text.replace(f"`{parameter.name}`", max(parameter.opts, key=len))
    return text


def of_the_system(error: OSError) -> str:
    """Return what the system complains of, and of which file."""
    if error.strerror is None:
        return str(error)
    if error.filename is not None:
        return f"{error.filename}: {error.strerror}."
    if error.errno in _OF_WRITING:  # every file that we write has a name
        return f"Standard output could not be written: {error.strerror}."
    return f"{error.strerror}."


_OF_WRITING = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
