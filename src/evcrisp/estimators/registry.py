"""The methods by name."""

from evcrisp.estimators.auto import AutoRegret
from evcrisp.estimators.cmax import Cmax
from evcrisp.estimators.eja import Eja
from evcrisp.estimators.entropy import Entropy
from evcrisp.estimators.exact import ExactRegret
from evcrisp.estimators.paper import PaperRegret
from evcrisp.estimators.result import Estimator
from evcrisp.estimators.sequential import BafCmax, Sequential

#: Methods by name, the default first.
ESTIMATORS: dict[str, type[Estimator]] = {
    AutoRegret.name: AutoRegret,
    ExactRegret.name: ExactRegret,
    PaperRegret.name: PaperRegret,
    Cmax.name: Cmax,
    Sequential.name: Sequential,
    BafCmax.name: BafCmax,
    Eja.name: Eja,
    Entropy.name: Entropy,
}
