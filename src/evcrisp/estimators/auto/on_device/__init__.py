"""Labels of method `auto` for many windows at once, on torch tensors.

Every step is that of the module of the same name in :mod:`evcrisp.estimators.auto`, which is its oracle.
"""
