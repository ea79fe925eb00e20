"""Options that would do nothing are refused, not passed over in silence."""

from collections.abc import Iterable

import click
from click.core import ParameterSource


def refuse_unused(context: click.Context, names: Iterable[str], reason: str) -> None:
    """Raise if one of these parameters was given; ``reason`` follows the name of its option."""
    for name in names:
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            option = next(p for p in context.command.params if p.name == name)
            raise click.UsageError(f"{max(option.opts, key=len)} {reason}", context)
