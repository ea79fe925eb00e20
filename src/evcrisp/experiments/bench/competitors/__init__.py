"""Other programs, run live where they are installed: filters and methods by name.

Each name states the program; its version is part of the parameters of a row, and so of the key of a
stored result.
"""

from typing import Any

from evcrisp.core.registry import Registry

#: Competitors by name; a class imports its package when it is called.
COMPETITORS: Registry[Any] = Registry(
    "competitor",
    {
        "dv-baf": f"{__name__}.dv:DvBaf",
        "dv-fastdecay": f"{__name__}.dv:DvFastDecay",
        "dv-knoise": f"{__name__}.dv:DvKnoise",
        "eventcv-baf": f"{__name__}.eventcv:EventcvBaf",
        "eventcv-cmax": f"{__name__}.eventcv:EventcvCmax",
        "tonic-denoise": f"{__name__}.tonic:TonicDenoise",
    },
)

#: Competitors that need a path, as in ``mlpf:weights.pt``.
BY_PATH: Registry[Any] = Registry(
    "competitor with a path",
    {
        "mlpf": f"{__name__}.networks:public_mlpf",
        "edformer": f"{__name__}.networks:Edformer",
    },
)
