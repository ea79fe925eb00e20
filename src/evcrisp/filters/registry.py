"""Filters by name."""

from evcrisp.core.registry import Registry
from evcrisp.filters.protocol import Filter

#: Filters by name, in the order of lists.
FILTERS: Registry[type[Filter]] = Registry(
    "filter",
    {
        "raw": "evcrisp.filters.raw:Raw",
        "baf": "evcrisp.filters.neighborhood.baf:Baf",
        "stcf": "evcrisp.filters.neighborhood.stcf:Stcf",
        "dwf": "evcrisp.filters.neighborhood.dwf:Dwf",
        "knoise": "evcrisp.filters.neighborhood.knoise:KNoise",
        "ynoise": "evcrisp.filters.neighborhood.ynoise:YNoise",
        "ebf": "evcrisp.filters.neighborhood.ebf:Ebf",
        "pfd": "evcrisp.filters.neighborhood.pfd:Pfd",
        "pfdslices": "evcrisp.filters.neighborhood.pfd_slices:PfdSlices",
        "density": "evcrisp.filters.density.density:Density",
        "ts": "evcrisp.filters.neighborhood.ts:Ts",
        "refractory": "evcrisp.filters.bursts.refractory:Refractory",
        "hotpixel": "evcrisp.filters.bursts.hot_pixel:HotPixel",
        "padala": "evcrisp.filters.neighborhood.padala:Padala",
        "evflow": "evcrisp.filters.neighborhood.evflow:EvFlow",
        "hashheat": "evcrisp.filters.density.hashheat:HashHeat",
        "activity": "evcrisp.filters.neighborhood.baf:Activity",
        "stc": "evcrisp.filters.bursts.stc:Stc",
        "trail": "evcrisp.filters.bursts.trail:Trail",
        "fastdecay": "evcrisp.filters.density.fastdecay:FastDecay",
        "red": "evcrisp.filters.density.red:Red",
        "iets": "evcrisp.filters.bursts.iets:Iets",
        "pugm": "evcrisp.filters.density.pugm:Pugm",
        "dbscan": "evcrisp.filters.density.dbscan:Dbscan",
        "mlpf": "evcrisp.filters.learned.mlpf:Mlpf",
        "edncnn": "evcrisp.filters.learned.edncnn:Edncnn",
    },
    group="evcrisp.filters",
    related=(
        "evcrisp.estimators.registry:ESTIMATORS",
        "use `evcrisp.estimate` or `evcrisp.track`, whose results have labels.",
    ),
)
