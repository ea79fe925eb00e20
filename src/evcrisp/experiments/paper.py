"""Numbers published in the paper."""

from evcrisp.experiments.datasets.ecd import PAPER_SEQUENCES

#: Table 1, ESR: method -> day ND1, ND4, ND16, ND64, then night.
ESR: dict[str, tuple[float, ...]] = {
    "raw": (0.817, 0.823, 0.815, 0.785, 0.889, 0.822, 0.782, 0.761),
    "baf": (0.851, 0.860, 0.865, 0.857, 0.977, 0.962, 0.911, 0.939),
    "dwf": (0.886, 0.889, 0.890, 0.884, 1.017, 1.001, 0.955, 0.940),
    "knoise": (0.836, 0.827, 0.820, 0.808, 0.963, 0.956, 0.881, 0.853),
    "ynoise": (0.841, 0.847, 0.844, 0.842, 0.927, 0.918, 0.921, 0.985),
    "ts": (0.919, 0.903, 0.901, 0.882, 1.042, 1.065, 1.015, 1.003),
    "evflow": (0.800, 0.785, 0.779, 0.731, 0.967, 0.968, 0.869, 0.831),
    "eja": (0.875, 0.900, 0.902, 0.911, 0.982, 0.995, 1.036, 1.152),
    "proposed": (0.890, 0.912, 0.921, 0.930, 0.994, 1.009, 1.083, 1.263),
    "edncnn": (0.676, 0.731, 0.731, 0.732, 0.827, 0.728, 0.669, 0.630),
    "mlpf": (0.916, 0.925, 0.921, 0.919, 1.028, 1.011, 1.053, 1.120),
}

#: Table 2: (method, tuned for %) -> sensitivity at 1, 5, 10 % noise, then specificity.
LABELS: dict[tuple[str, str], tuple[float, ...]] = {
    ("eja", "1"): (0.918, 0.945, 0.962, 0.936, 0.787, 0.609),
    ("eja", "5"): (0.888, 0.920, 0.944, 0.956, 0.918, 0.760),
    ("eja", "10"): (0.838, 0.869, 0.905, 0.963, 0.955, 0.920),
    ("proposed", "1"): (0.917, 0.915, 0.913, 0.950, 0.945, 0.939),
    ("proposed", "5"): (0.911, 0.921, 0.915, 0.937, 0.951, 0.936),
    ("proposed", "10"): (0.908, 0.913, 0.918, 0.933, 0.942, 0.944),
}

#: Table 3, RMSE: method -> dynamic and boxes rotation, then translation. The unit is not stated;
#: deg/s fits best.
_RMSE: dict[str, tuple[float, ...]] = {
    "baf+cmax": (6.973, 68.673, 11.241, 27.228),
    "eja": (6.660, 64.167, 10.517, 26.939),
    "proposed": (6.627, 56.364, 10.509, 26.661),
}

#: Table 3, RMSE: method -> sequence -> value.
RMSE = {key: dict(zip(PAPER_SEQUENCES, row, strict=True)) for key, row in _RMSE.items()}
