"""HDF5 layouts: DSEC, M3ED, MVSEC, Prophesee."""
