"""Solvers by name."""

from evcrisp.core.registry import Registry
from evcrisp.optimize.protocol import Solver

#: Solvers by name.
SOLVERS: Registry[type[Solver]] = Registry(
    "solver",
    {
        "adam": "evcrisp.optimize.adam:Adam",
        "bfgs": "evcrisp.optimize.bfgs:Bfgs",
        "grid": "evcrisp.optimize.box_search:Grid",
        "nelder-mead": "evcrisp.optimize.nelder_mead:NelderMead",
        "newton": "evcrisp.optimize.newton:Newton",
        "quasi-random": "evcrisp.optimize.box_search:QuasiRandom",
    },
    group="evcrisp.solvers",
)
