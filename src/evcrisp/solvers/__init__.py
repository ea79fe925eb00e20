"""Solvers: functions of theta only."""

from evcrisp.solvers._protocol import Function, Solver, SolverResult, Status

__all__ = ["Function", "Solver", "SolverResult", "Status"]
