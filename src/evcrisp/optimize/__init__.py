"""Solvers: functions of theta only, and always uphill."""

from evcrisp.optimize.adam import Adam, AdamState
from evcrisp.optimize.bfgs import Bfgs, Climb
from evcrisp.optimize.grid import Grid
from evcrisp.optimize.nelder_mead import NelderMead
from evcrisp.optimize.newton import Newton
from evcrisp.optimize.protocol import Function, Solver, SolverResult, Status
from evcrisp.optimize.quasi_random import QuasiRandom, halton

#: Solvers by name.
SOLVERS: dict[str, type[Solver]] = {
    Adam.name: Adam,
    Bfgs.name: Bfgs,
    Grid.name: Grid,
    NelderMead.name: NelderMead,
    Newton.name: Newton,
    QuasiRandom.name: QuasiRandom,
}

__all__ = [
    "SOLVERS",
    "Adam",
    "AdamState",
    "Bfgs",
    "Climb",
    "Function",
    "Grid",
    "NelderMead",
    "Newton",
    "QuasiRandom",
    "Solver",
    "SolverResult",
    "Status",
    "halton",
]
