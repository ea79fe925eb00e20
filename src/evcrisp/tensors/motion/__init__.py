"""Warps of events and their adjoints, one module per kernel of :mod:`evcrisp.kernels.motion`.

``theta`` and ``constants`` are sequences of one tensor per number, shape (n,): the parameters of the
window of each event. ``pull_back`` returns, per parameter, what each event adds to the gradient. ``unwarp`` is the inverse of ``warp``, from pixels to pixels
without lens.
"""
