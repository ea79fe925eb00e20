"""The paper's joint problem: exact, as published, and its Pareto front."""
