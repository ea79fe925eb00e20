"""The methods by name."""

from evcrisp.estimators.cmax import Cmax
from evcrisp.estimators.eja import Eja
from evcrisp.estimators.entropy import Entropy
from evcrisp.estimators.result import Estimator
from evcrisp.estimators.sequential import BafCmax, Sequential

#: Methods by name.
ESTIMATORS: dict[str, type[Estimator]] = {
    Cmax.name: Cmax,
    Sequential.name: Sequential,
    BafCmax.name: BafCmax,
    Eja.name: Eja,
    Entropy.name: Entropy,
}
