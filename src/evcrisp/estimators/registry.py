"""The methods by name."""

from evcrisp.estimators.auto.auto import AutoRegret
from evcrisp.estimators.baselines.cmax import Cmax
from evcrisp.estimators.baselines.eja import Eja
from evcrisp.estimators.baselines.entropy import Entropy
from evcrisp.estimators.baselines.sequential import BafCmax, Sequential
from evcrisp.estimators.joint.exact import ExactRegret
from evcrisp.estimators.joint.paper import PaperRegret
from evcrisp.estimators.result import Estimator

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
