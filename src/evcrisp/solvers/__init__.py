"""Solvers: functions of theta only, and always uphill."""

from evcrisp.solvers._protocol import Function, Solver, SolverResult, Status
from evcrisp.solvers.adam import Adam, AdamState
from evcrisp.solvers.bfgs import Bfgs, Climb
from evcrisp.solvers.grid import Grid
from evcrisp.solvers.nelder_mead import NelderMead
from evcrisp.solvers.newton import Newton
from evcrisp.solvers.quasi_random import QuasiRandom, halton

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
