"""Types and rules that every other part shares."""
