"""Read and write flow files; the suffix selects the format."""

from os import PathLike
from pathlib import Path

import numpy as np

from evcrisp.core.errors import ConfigError, FormatError
from evcrisp.core.flow import Flow
from evcrisp.core.messages import counted
from evcrisp.core.validation import check_number, check_type
from evcrisp.io.atomic_output import replacing
from evcrisp.io.flow.formats import fitting, format_of
from evcrisp.io.flow.stored_flow import MAX_PIXELS

_COPY_AGAIN = "Copy or write the file again."


def write_flow(path: str | PathLike[str], flow: Flow, *, overwrite: bool = False) -> None:
    """Write a flow to a file, which appears only when complete.

    ==========  ==========================================================  ===================
    suffix      content                                                     time of the window
    ==========  ==========================================================  ===================
    ``.npz``    velocity, float32, px/s; lossless                           in the file
    ``.flo``    displacement over the window, float32, px (Middlebury)      not in the file
    ``.png``    displacement over the window in steps of 1/128 px, from     in the file, as
                -256 to 255.99 px (16-bit RGB of DSEC)                      text
    ==========  ==========================================================  ===================

    Parameters
    ----------
    path : path
        The output.
    flow : Flow
        The flow.
    overwrite : bool
        Replace an existing file. By default that is an error.

    Raises
    ------
    ConfigError
        If no format has this suffix, or the format cannot hold a displacement.

    Examples
    --------
    >>> import tempfile
    >>> flow = Flow(np.full((3, 4, 2), (100.0, -50.0)), np.ones((3, 4), bool), 0, 20_000)
    >>> path = Path(tempfile.mkdtemp()) / "flow.png"
    >>> write_flow(path, flow)
    >>> read_flow(path)
    Flow(resolution=4x3, t=0..20000 us, valid=12 of 12, mean speed=111.8 px/s)
    """
    path = Path(path)
    check_type("flow", flow, Flow)
    form = format_of(path)
    if flow.valid.size > MAX_PIXELS:
        problem = f"must have at most {MAX_PIXELS:,} pixels; got {flow.valid.size:,}"
        raise ConfigError(problem, parameter="flow")
    n_beyond = int(np.count_nonzero(~fitting(flow, form)))
    if n_beyond:
        pixels = counted(n_beyond, "pixel moves", "pixels move")
        raise ConfigError(
            f"{pixels} beyond {form.least_px:g} to {form.most_px:.6g} px, which is all that "
            f"{form.suffix} files hold.",
            remedy="Use .npz or shorter windows, or set `valid` to False there.",
        )
    with replacing(path, overwrite=overwrite) as temporary:
        form.write(temporary, flow)


def read_flow(
    path: str | PathLike[str], *, t_start: int | None = None, t_end: int | None = None
) -> Flow:
    """Read a flow from an ``.npz``, ``.flo`` or ``.png`` file; see :func:`write_flow`.

    Parameters
    ----------
    path : path
        The file.
    t_start, t_end : int, us, optional
        Time that the displacements of the file span. Needed for files that do not state it: every
        ``.flo``, and ``.png`` of other programs. Those of DSEC span 100 ms.

    Raises
    ------
    FormatError
        If the file is damaged or has other content.
    ConfigError
        If the time is needed and missing, or differs from that in the file.
    """
    path = Path(path)
    form = format_of(path)
    given = None
    if t_start is not None or t_end is not None:
        for name, value in (("t_start", t_start), ("t_end", t_end)):
            check_number(name, value, whole=True, remedy="Give both times, or none.")
        given = int(t_start or 0), int(t_end or 0)
    try:
        stored = form.read(path)
    except FormatError as error:
        raise _located(error, path) from error
    if stored.span is not None and stored.span[0] >= stored.span[1]:
        raise _located(
            FormatError("it ends before it starts: {} to {} us".format(*stored.span)), path
        )
    if not np.isfinite(stored.values[stored.valid]).all():
        raise _located(FormatError("a valid pixel has a velocity that is not finite"), path)
    return stored.flow(given)


def _located(error: FormatError, path: Path) -> FormatError:
    remedy = _COPY_AGAIN if error.remedy is None else error.remedy
    located = FormatError(error.reason, offset=error.offset, path=path, remedy=remedy)
    located.beside = "flow"
    return located
