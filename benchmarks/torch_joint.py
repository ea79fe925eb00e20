"""Minimize the joint objective with plain torch: autograd and Adam, for comparison.

Translation only. Bilinear votes with `index_add`, Gaussian blur with two one-dimensional convolutions
(faster than one of two dimensions), float32 as is the default of torch.
"""

import time

import torch
from torch.nn.functional import conv2d


def contrast_map(scaled, x, y, share, taps, shape):
    """Return the contrast map of events shifted by ``scaled`` px times their share of the window."""
    height, width = shape
    warped_x, warped_y = x - scaled[0] * share, y - scaled[1] * share
    column, row = torch.floor(warped_x), torch.floor(warped_y)
    a, b = warped_x - column, warped_y - row
    column, row = column.long(), row.long()
    image = torch.zeros(height * width, device=x.device)
    for right in (0, 1):
        for down in (0, 1):
            c, r = column + right, row + down
            inside = (c >= 0) & (c < width) & (r >= 0) & (r < height)
            vote = (a if right else 1 - a) * (b if down else 1 - b)
            image = image.index_add(0, (r * width + c)[inside], vote[inside])
    image = image.view(1, 1, height, width)
    radius = taps.numel() // 2
    image = conv2d(image, taps.view(1, 1, 1, -1), padding=(0, radius))
    return conv2d(image, taps.view(1, 1, -1, 1), padding=(radius, 0))[0, 0]


def joint_objective(iwe, w, terms):
    """Return J of the paper."""
    kept = w * iwe
    regret_ea = terms.baseline_ea - iwe.var(unbiased=False)
    regret_ed = kept.var(unbiased=False) - terms.baseline_ed
    penalty = terms.alpha * w.abs().sum() + terms.beta * ((kept - iwe) ** 2).sum()
    return torch.maximum(regret_ea, regret_ed) + penalty


def minimize(problem, theta, n_steps, rate_px=0.1, rate_w=0.05, device="cpu"):
    """Return theta, J and seconds after steps of Adam from ``theta`` and W = 1, on a device of torch.

    ``problem`` is a `JointProblem` with a translation; only its events, constants and shape are used.
    """
    warp, contrast = problem.data.warp, problem.contrast
    span = float(warp.dt.max() - warp.dt.min())
    columns = warp.x + contrast.padding_px, warp.y + contrast.padding_px, warp.dt / span
    x, y, share = (torch.tensor(c, dtype=torch.float32, device=device) for c in columns)
    offsets = torch.arange(-4.0, 5.0, device=device)
    taps = torch.exp(-0.5 * (offsets / contrast.sigma_px) ** 2)
    taps /= taps.sum()
    shape = contrast.shape(problem.data.resolution)
    scaled = torch.tensor(theta * span, dtype=torch.float32, device=device, requires_grad=True)
    w = torch.ones(shape, device=device, requires_grad=True)
    adam = torch.optim.Adam([{"params": [scaled], "lr": rate_px}, {"params": [w], "lr": rate_w}])
    start = time.perf_counter()
    for _ in range(n_steps):
        adam.zero_grad()
        iwe = contrast_map(scaled, x, y, share, taps, shape)
        value = joint_objective(iwe, w, problem.terms)
        value.backward()
        adam.step()
        with torch.no_grad():
            w.clamp_(0.0, 1.0)
    value.item()  # waits for a GPU
    seconds = time.perf_counter() - start
    return scaled.detach().cpu().numpy().astype(float) / span, value.item(), seconds
