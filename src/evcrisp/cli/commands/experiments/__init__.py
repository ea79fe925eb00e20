"""Commands of data sets, tables and comparisons."""
