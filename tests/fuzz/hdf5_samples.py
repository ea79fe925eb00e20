"""Small good HDF5 files of every layout and filter, to be damaged."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from tests.fuzz.samples import Sample, make_events, saved, written

_CD = np.dtype(
    {"names": ["x", "y", "p", "t"], "formats": ["<u2", "<u2", "<i2", "<i8"], "itemsize": 16}
)


def hdf5_samples() -> list[Sample]:
    """Return samples of all layouts, and of all filters that h5py and hdf5plugin have for events."""
    import h5py
    import hdf5plugin

    events = make_events()

    def save_columns(group: str, kinds: dict[str, str], **filters: Any) -> Callable[[Path], None]:
        def save(path: Path) -> None:
            with h5py.File(path, "w") as file:
                for name, kind in kinds.items():
                    column = getattr(events, name).astype(kind)
                    file.create_dataset(f"{group}/{name}", data=column, **filters)

        return save

    def save_mvsec(path: Path) -> None:
        with h5py.File(path, "w") as file:
            table = [events.x, events.y, events.t / 1e6, np.where(events.p, 1, -1)]
            file["davis/left/events"] = np.stack(table, axis=1).astype(np.float64)
            file["davis/left/imu"] = np.ones((4, 6))
            file["davis/left/imu_ts"] = 1.0 + np.arange(4) / 100
            file["davis/left/image_raw"] = np.zeros((2, 34, 34), np.uint8)
            file["davis/left/image_raw_ts"] = 1.0 + np.arange(2) / 100

    def save_prophesee(path: Path) -> None:
        records = np.zeros(len(events), _CD)
        for name in ("x", "y", "t", "p"):
            records[name] = getattr(events, name)
        with h5py.File(path, "w") as file:
            file["CD/events"] = records
            file.attrs["geometry"] = "346x260"

    kinds = {"x": "u2", "y": "u2", "t": "i8", "p": "u1"}
    chunked = {"chunks": (16,)}
    filters: dict[str, dict[str, Any]] = {
        "plain": {},
        "gzip": {"compression": "gzip", **chunked},
        "shuffle-gzip": {"compression": "gzip", "shuffle": True, **chunked},
        "blosc": {**dict(hdf5plugin.Blosc()), **chunked},
        "lzf": {"compression": "lzf", **chunked},
        "zstd": {**dict(hdf5plugin.Zstd()), **chunked},
        "bitshuffle": {**dict(hdf5plugin.Bitshuffle()), **chunked},
        "fletcher32": {"fletcher32": True, **chunked},
        "bzip2": {**dict(hdf5plugin.BZip2()), **chunked},
        "scale-offset": {"scaleoffset": 0, **chunked},
    }
    if h5py.h5z.filter_avail(h5py.h5z.FILTER_SZIP):
        filters["szip"] = {"compression": "szip", **chunked}
    samples = [
        written("dsec", ".h5", compression="blosc"),
        written("dsec", ".h5", compression="gzip"),
        saved("mvsec", ".h5", save_mvsec),
        saved("m3ed", ".h5", save_columns("prophesee/left", kinds)),
        saved("prophesee-hdf5", ".h5", save_prophesee),
        *(
            saved("hdf5", ".h5", save_columns("events", kinds, **chosen), f"-{name}")
            for name, chosen in filters.items()
        ),
        _lossy("sz", hdf5plugin.SZ),
        _lossy("sz3", hdf5plugin.SZ3),
    ]
    return [  # files that were cut are refused
        replace(sample, n_cuts=4, is_repeatable=sample.is_repeatable and "lzf" not in sample.name)
        for sample in samples
    ]


def _lossy(name: str, kind: Callable[..., Any]) -> Sample:
    """Return a sample whose times, s, have a filter that loses less than a microsecond."""
    import h5py

    events = make_events()

    def save(path: Path) -> None:
        with h5py.File(path, "w") as file:
            for column in "xyp":
                file[f"events/{column}"] = getattr(events, column).astype(np.uint16)
            options = {**dict(kind(absolute=1e-8)), "chunks": (30,)}
            file.create_dataset("events/t", data=events.t / 1e6, **options)

    return replace(saved("hdf5", ".h5", save, f"-{name}"), is_repeatable=False)
