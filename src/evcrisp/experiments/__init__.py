"""The experiments of the paper: data sets, their simulated twins, tables, and running at scale."""
