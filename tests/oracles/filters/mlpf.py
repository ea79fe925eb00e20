"""Slow versions of the kernels of mlpf."""

import numpy as np


def encode(x, y, t, p, resolution, tau, mode="intended", radius=3):
    """Return the inputs of each event, (n, 98) float64, and the events that jAER drops."""
    n, side = len(t), 2 * radius + 1
    patch = np.zeros((n, 2, side, side))
    first = np.zeros(n, bool)
    last = {}  # (x, y) -> (time, sign)
    width, height = resolution
    for k in range(n):
        own = (int(x[k]), int(y[k]))
        sign = 1 if p[k] else -1
        first[k] = own not in last
        if mode == "kugamas" and first[k]:
            last[own] = (int(t[k]), sign)
        for dx in range(-radius, radius + 1):
            for dy in range(-radius, radius + 1):
                q = (own[0] + dx, own[1] + dy)
                outside = not (0 <= q[0] < width and 0 <= q[1] < height)
                if mode == "jaer" and q[0] == width - 1:
                    outside = True
                if outside or q not in last:
                    continue
                dt = int(t[k]) - last[q][0]
                if dt < tau or (mode == "kugamas" and dt == tau):
                    patch[k, 0, dx + radius, dy + radius] = 1 - dt / tau
                    patch[k, 1, dx + radius, dy + radius] = (
                        sign if mode == "kugamas" else last[q][1]
                    )
        if mode == "intended" or (mode == "jaer" and own[0] < width - 1):
            patch[k, 1, radius, radius] = sign
        last[own] = (int(t[k]), 0 if mode == "jaer" and first[k] else sign)
    return patch.reshape(n, -1), first if mode == "jaer" else np.zeros(n, bool)


def forward(patches, hidden_kernel, hidden_bias, output_kernel, output_bias):
    """Return the output of the network in double precision; kernels are input-major."""
    hidden = np.maximum(patches @ hidden_kernel.astype(float) + hidden_bias, 0)
    return 1 / (1 + np.exp(-(hidden @ output_kernel.astype(float) + output_bias)[:, 0]))
