"""Label the events of a recording with a denoiser by name."""

from collections.abc import Mapping

from evcrisp.errors import ConfigError
from evcrisp.events import Events
from evcrisp.filters._protocol import Denoiser, Labels
from evcrisp.filters.table import DENOISERS
from evcrisp.registry import configured, lookup


def denoiser(
    name: str, preset: str | None = None, params: Mapping[str, object] | None = None
) -> Denoiser:
    """Build a denoiser: its defaults, then a preset, then parameters.

    >>> denoiser("baf", params={"tau_us": 2000}).tau_us
    2000
    """
    kind = lookup(DENOISERS, name, "denoiser")
    chosen: Mapping[str, object] = {}
    if preset is not None:
        if preset not in kind.presets:
            raise ConfigError(
                f"The denoiser {name!r} has no preset {preset!r}. "
                f"Known: {', '.join(sorted(kind.presets)) or 'none'}."
            )
        chosen = kind.presets[preset]
    return configured(DENOISERS, name, "denoiser", {**chosen, **(params or {})})


def denoise(
    events: Events, name: str = "baf", preset: str | None = None, **params: object
) -> Labels:
    """Label each event as signal or noise.

    Parameters
    ----------
    events : Events
        One recording, or its beginning.
    name : str
        Denoiser; one of the keys of ``evcrisp.filters.DENOISERS``.
    preset : str, optional
        Parameters that reproduce another implementation, such as "emlb"; ``presets`` of the
        denoiser has them.
    **params
        Parameters of the denoiser, such as ``tau_us``; they win over the preset.

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
    stream = denoiser(name, preset, params).start(events.resolution)
    return Labels.joined([stream.label(events), stream.finish()])
