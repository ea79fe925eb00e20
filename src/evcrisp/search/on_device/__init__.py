"""The search of many windows at once, on torch tensors; each step is that of :mod:`evcrisp.search`."""
