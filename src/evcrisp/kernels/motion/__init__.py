"""Kernels of motion models.

All arrays are (n,) float64. `warp` fills out_x, out_y with the positions at the reference time.
`pull_back` adds J_k^T (slope_x[k], slope_y[k]) of all events to out, shape (m,): the gradient with
respect to theta.
"""
