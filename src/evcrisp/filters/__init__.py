"""Event-by-event denoisers: one file each, state carried across chunks."""

from evcrisp.events import Events
from evcrisp.filters._protocol import Denoiser, Labels, Stream
from evcrisp.filters.baf import Baf
from evcrisp.filters.raw import Raw
from evcrisp.registry import configured

#: Denoisers by name.
DENOISERS: dict[str, type[Denoiser]] = {Raw.name: Raw, Baf.name: Baf}

__all__ = ["DENOISERS", "Baf", "Denoiser", "Labels", "Raw", "Stream", "denoise"]


def denoise(events: Events, name: str = "baf", **params: object) -> Labels:
    """Label each event as signal or noise.

    Parameters
    ----------
    events : Events
        One recording, or its beginning.
    name : str
        Denoiser; one of the keys of ``evcrisp.filters.DENOISERS``.
    **params
        Parameters of the denoiser, such as ``tau_us``.

    Returns
    -------
    Labels
        ``signal`` (True = keep) and ``score`` (larger = more likely signal) per event.

    Examples
    --------
    Two events side by side support the later one; the third is alone.

    >>> events = Events(x=[3, 4, 7], y=[1, 1, 3], t=[0, 10, 25], p=[1, 1, 1], resolution=(8, 4))
    >>> denoise(events, "baf", tau_us=1000).signal
    array([False,  True, False])
    """
    denoiser = configured(DENOISERS, name, "denoiser", params)
    return denoiser.start(events.resolution).label(events)
