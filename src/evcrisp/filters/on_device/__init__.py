"""Filters with an exact parallel form, on torch tensors: the labels are those of the compiled filters."""
