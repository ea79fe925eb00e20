"""Render errors and log messages of the library with the option names of a command."""

import errno
import logging
from functools import partial

import click

from evcrisp.core.errors import NOT_GIVEN, EvError, Setting
from evcrisp.core.messages import shown


def error_text(error: EvError, command: click.Command | None) -> str:
    """Return the message of an error; parameters are named by the options that set them.

    An option is declared with the library's name of its value: ``click.option("--points", "n_points")``.
    """
    return _plain(error.text(partial(_name_of, command), partial(_remedy_text, command)))


def log_text(record: logging.LogRecord, command: click.Command | None) -> str:
    """Return the text of a log message; remedies among its arguments name options."""
    if not isinstance(record.args, tuple) or not record.args:
        return _plain(record.getMessage())
    arguments = (_remedy_text(command, a) if isinstance(a, Setting) else a for a in record.args)
    return _plain(str(record.msg) % tuple(arguments))


def _plain(text: str) -> str:
    """Escape control characters, which can come from a file or its name."""
    return shown(text, _MESSAGE_CHARACTERS, lines=True)


#: Characters of a message; lists of names can be long.
_MESSAGE_CHARACTERS = 4000


def system_error_text(error: OSError) -> str:
    """Return the message of the operating system, with the name of the file."""
    if error.strerror is None:
        return _plain(str(error))
    if error.filename is not None:
        return _plain(f"{error.filename}: {error.strerror}.")
    if error.errno in _WRITE_ERRORS:  # errors of all other files have a file name
        return f"Standard output could not be written: {error.strerror}."
    return f"{error.strerror}."


_WRITE_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


#: Parameters of inputs for which remedies exist.
_OF_INPUT = ("resolution", "on_error", "format")


def option_name(option: click.Parameter) -> str:
    """Return the long name of an option, such as ``--method``."""
    return max(option.opts, key=len)


def _option(command: click.Command | None, name: str) -> click.Option | None:
    options = (p for p in (() if command is None else command.params) if p.name == name)
    return next((p for p in options if isinstance(p, click.Option)), None)


def _name_of(command: click.Command | None, parameter: str) -> str:
    option = _option(command, parameter)
    return f"`{parameter}`" if option is None else option_name(option)


def _remedy_text(command: click.Command | None, remedy: Setting) -> str:
    """Return a remedy as an option with its value; flags have none.

    Where a command has no such option of input files, `evcrisp convert` has it, and writes a mended copy.
    """
    option, before = _option(command, remedy.parameter), ""
    if option is None and command is not None and remedy.parameter in _OF_INPUT:
        from evcrisp.cli.commands.convert import convert_command

        option, before = _option(convert_command, remedy.parameter), "evcrisp convert "
    if option is None:
        return str(remedy)
    value = option.metavar if remedy.value is NOT_GIVEN else str(remedy.value)
    if isinstance(remedy.value, tuple):  # (width, height)
        value = "x".join(map(str, remedy.value))
    name = f"{before}{option_name(option)}"
    return f"{remedy.action} with {name if option.is_flag or not value else f'{name} {value}'}."
