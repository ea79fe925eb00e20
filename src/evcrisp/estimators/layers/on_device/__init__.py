"""Windows whose motions are found, many at once, on torch tensors.

Every step is that of the module of the same name in :mod:`evcrisp.estimators.layers`, which is its oracle.
"""
