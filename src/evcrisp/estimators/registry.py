"""Estimators by name."""

from evcrisp.core.registry import Registry
from evcrisp.estimators.protocol import Estimator

#: Methods by name, the default first.
ESTIMATORS: Registry[type[Estimator]] = Registry(
    "method",
    {
        "auto": "evcrisp.estimators.auto.auto:AutoRegret",
        "exact": "evcrisp.estimators.joint.exact:ExactRegret",
        "paper": "evcrisp.estimators.joint.paper:PaperRegret",
        "cmax": "evcrisp.estimators.baselines.cmax:Cmax",
        "sequential": "evcrisp.estimators.baselines.sequential:Sequential",
        "baf+cmax": "evcrisp.estimators.baselines.sequential:BafCmax",
        "eja": "evcrisp.estimators.baselines.eja:Eja",
        "entropy": "evcrisp.estimators.baselines.entropy:Entropy",
    },
    group="evcrisp.estimators",
    related=(
        "evcrisp.filters.registry:FILTERS",
        "use `evcrisp.denoise`, or the method 'sequential', which filters and then aligns.",
    ),
)
