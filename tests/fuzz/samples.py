"""Small good files of every format, to be damaged."""

import gzip
import io
import struct
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tests.sensor_data import GivenData

import evcrisp
from evcrisp.core.sensor_data import Frame, Imu, Triggers

Files = dict[str, bytes]


#: Unit of events that share a checksum, or a directory at the end.
ALL = 1 << 30
#: Rows from which the order of columns without names is told.
ORDER_ROWS = 16


def _as_they_are(files: Files) -> Files:
    return files


@dataclass(frozen=True)
class Sample:
    """Files of a recording by their names; ``pack`` turns them into those on the disk.

    ``unit`` is the number of rows that tell the order of columns without names, or of events that
    share a checksum or the directory at the end of an archive. ``is_repeatable`` is False if a decoder
    reads beyond damaged input, so that two reads can differ.
    """

    reader: str
    name: str
    files: Files
    pack: Callable[[Files], Files] = _as_they_are
    unit: int = 1  # damage costs the rest of so many events, and these
    is_repeatable: bool = True
    n_cuts: int = 48  # places at which it is cut, to know which events stand before a byte

    @property
    def entry(self) -> str:
        """Name of the file or folder to open."""
        return next(iter(self.pack(self.files))).split("/")[0]


def make_events(n: int = 60, seed: int = 0, size: tuple[int, int] = (34, 34)) -> evcrisp.Events:
    """Return random events of a small sensor."""
    rng = np.random.default_rng(seed)
    return evcrisp.Events(
        x=rng.integers(0, size[0], n),
        y=rng.integers(0, size[1], n),
        t=1_000_000 + np.sort(rng.integers(0, 20_000, n)),
        p=rng.integers(0, 2, n).astype(bool),
        resolution=size,
    )


def make_sensor_data() -> GivenData:
    """Return IMU samples, triggers and frames."""
    t = 1_000_000 + 5000 * np.arange(4)
    values = np.arange(12.0).reshape(4, 3)
    imu = Imu(t=t, gyro_rad_s=values, accel_m_s2=values + 1)
    triggers = Triggers(t=t, kind=np.array([1, 2, 1, 2], np.uint8), channel=np.zeros(4, np.uint8))
    image = np.arange(34 * 34, dtype=np.uint8).reshape(34, 34)
    frame = Frame(t=1_004_000, image=image, exposure_start=1_003_000, exposure_end=1_004_000)
    return GivenData(imu, triggers, (frame,))


def written(
    reader: str, suffix: str, *, unit: int = 1, data: bool = False, **options: Any
) -> Sample:
    """Return the output of one of our writers."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"a{suffix}"
        data_from: Any = make_sensor_data() if data else None
        evcrisp.write(path, make_events(), format=reader, sensor_data_from=data_from, **options)
        label = "-".join([reader, *map(str, options.values()), *(["data"] if data else [])])
        return Sample(reader, label + suffix, files_at(path), unit=unit)


def files_at(path: Path) -> Files:
    """Return the files of a recording that is a file or a folder."""
    if path.is_file():
        return {path.name: path.read_bytes()}
    files = sorted(file for file in path.rglob("*") if file.is_file())
    return {file.relative_to(path.parent).as_posix(): file.read_bytes() for file in files}


def saved(
    reader: str, suffix: str, save: Callable[[Path], None], label: str = "", unit: int = 1
) -> Sample:
    """Return what a function writes to a path."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"a{suffix}"
        save(path)
        return Sample(reader, f"{reader}{label}{suffix}", files_at(path), unit=unit)


def gzipped(sample: Sample) -> Sample:
    """Return a sample whose content is damaged within an intact gzip file."""

    def pack(files: Files) -> Files:
        return {f"{name}.gz": gzip.compress(data, 1, mtime=0) for name, data in files.items()}

    return Sample(sample.reader, f"{sample.name}.gz-inside", sample.files, pack)


def zipped(sample: Sample) -> Sample:
    """Return a sample whose members are damaged within an intact zip archive."""
    (name,) = sample.files
    with zipfile.ZipFile(io.BytesIO(sample.files[name])) as archive:
        members = {member: archive.read(member) for member in archive.namelist()}

    def pack(files: Files) -> Files:
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            for member, data in files.items():
                archive.writestr(zipfile.ZipInfo(member), data)
        return {name: buffer.getvalue()}

    return Sample(sample.reader, f"{sample.name}-inside", members, pack)


# ---------------------------------------------------------------- formats without a writer


def _aedat2() -> list[Sample]:
    events = make_events()
    first = b"#!AER-DAT2.0\r\n# This is a raw AE data file - do not edit\r\n"
    rows = zip(*(c.tolist() for c in (events.t, events.x, events.y, events.p)), strict=True)
    davis = [
        struct.pack(">II", (179 - y) << 22 | (239 - x) << 12 | p << 11, t) for t, x, y, p in rows
    ]
    rows = zip(*(c.tolist() for c in (events.t, events.x, events.y, events.p)), strict=True)
    dvs = [struct.pack(">II", (127 - y) << 8 | (127 - x) << 1 | (1 - p), t) for t, x, y, p in rows]
    imu = [struct.pack(">II", 0x80000C00 | k << 28 | 100 << 12, 1_005_000) for k in range(7)]
    davis[20:20] = imu
    heads = {
        "davis": b"# AEChip: eu.seebetter.ini.chips.davis.DAVIS240C\r\n",
        "dvs128": b"# AEChip: ch.unizh.ini.jaer.chip.retina.DVS128\r\n",
    }
    words = {"davis": davis, "dvs128": dvs}
    return [
        Sample("aedat2", f"aedat2-{name}", {"a.aedat": first + head + b"".join(words[name])})
        for name, head in heads.items()
    ]


def _aedat31() -> Sample:
    events = make_events()
    lines = ["#!AER-DAT3.1", "#Format: RAW", "#Source 1: DAVIS240C", "#!END-HEADER"]
    data = "".join(line + "\r\n" for line in lines).encode()

    def packet(kind: int, items: list[bytes]) -> bytes:
        n = len(items)
        return struct.pack("<hhiiiiii", kind, 1, len(items[0]), 4, 0, n, n, n) + b"".join(items)

    rows = zip(*(c.tolist() for c in (events.t, events.x, events.y, events.p)), strict=True)
    items = [struct.pack("<Ii", x << 17 | y << 2 | p << 1 | 1, t) for t, x, y, p in rows]
    data += packet(1, items[:30])
    data += packet(0, [struct.pack("<Ii", 2 << 1 | 1, 1_010_000)])
    data += packet(3, [struct.pack("<Ii7f", 1, 1_010_000, *range(7))] * 2)
    pixels = bytes(2 * 6 * 4)
    data += packet(2, [struct.pack("<I8i", 3, *[1_010_000] * 4, 6, 4, 0, 0) + pixels])
    data += packet(1, items[30:])
    return Sample("aedat31", "aedat31", {"a.aedat": data})


def _evt21() -> Sample:
    events = make_events()
    data, high = b"% format EVT21;endianness=little;height=320;width=320\n% end\n", None
    for x, y, t, p in zip(events.x, events.y, events.t, events.p, strict=True):
        x, y, t, p = int(x), int(y), int(t), int(p)
        words = [] if high == t // 64 else [(0x8 << 28 | t // 64, 0)]
        high = t // 64
        words.append((p << 28 | t % 64 << 22 | x // 32 * 32 << 11 | y, 1 << x % 32))
        data += b"".join(struct.pack("<II", second, first) for first, second in words)
    return Sample("evt21", "evt21", {"a.raw": data})


def _nmnist() -> Sample:
    events = make_events()
    t = events.t - events.t[0]
    rows = zip(events.x.tolist(), events.y.tolist(), t.tolist(), events.p.tolist(), strict=True)
    data = b"".join(bytes([x, y, p << 7 | t >> 16, t >> 8 & 255, t & 255]) for x, y, t, p in rows)
    return Sample("nmnist", "nmnist", {"a.bin": data})


def _columns() -> dict[str, np.ndarray]:
    events = make_events()
    return {name: getattr(events, name) for name in ("x", "y", "p", "t")}


def _save_records(path: Path) -> None:
    columns = _columns()
    rows = np.zeros(60, [(name, column.dtype) for name, column in columns.items()])
    for name, column in columns.items():
        rows[name] = column
    np.save(path, rows)


def _matrix() -> np.ndarray:
    return np.stack([column.astype(np.int64) for column in _columns().values()], axis=1)


def _mat() -> list[Sample]:
    from scipy.io import savemat

    def save_struct(path: Path) -> None:
        savemat(path, {"TD": _columns()})

    def save_packed(path: Path) -> None:
        savemat(path, {"events": _matrix()}, do_compression=True)

    return [
        saved("mat", ".mat", save_struct, "-struct"),
        saved("mat", ".mat", save_packed, "-packed", unit=ORDER_ROWS),
        saved("mat", ".mat", lambda path: savemat(path, {"events": _matrix()}), unit=ORDER_ROWS),
    ]


def _hdf5() -> list[Sample]:
    from tests.fuzz.hdf5_samples import hdf5_samples  # it uses this module

    return hdf5_samples()


def _ros1() -> list[Sample]:
    return [
        written("ros1", ".bag", compression=kind, data=data)
        for kind, data in (("none", True), ("lz4", False))
    ]


def _ros2() -> list[Sample]:
    chosen = (("mcap", "none", True), ("mcap", "zstd", False), ("sqlite3", "none", True))
    return [
        written("ros2", "", unit=ALL, storage=storage, compression=kind, data=data)
        for storage, kind, data in chosen
    ]


def all_samples(reader: str) -> list[Sample]:
    """Return the samples of a reader."""
    makers: dict[str, Callable[[], list[Sample]]] = {
        "npz": lambda: [
            written("npz", ".npz", unit=ALL),
            written("npz", ".npz", unit=ALL, compressed=True),
            zipped(written("npz", ".npz")),
        ],
        "aedat4": lambda: [
            written("aedat4", ".aedat4", compression="none", data=True),
            written("aedat4", ".aedat4", compression="lz4", data=True),
            written("aedat4", ".aedat4", compression="zstd"),
        ],
        "ros1": _ros1,
        "ros2": _ros2,
        "evt3": lambda: [written("evt3", ".raw", data=True)],
        "evt2": lambda: [written("evt2", ".raw", data=True)],
        "evt21": lambda: [_evt21()],
        "dat": lambda: [written("dat", ".dat")],
        "aedat2": _aedat2,
        "aedat31": lambda: [_aedat31()],
        "es": lambda: [written("es", ".es")],
        "mat": _mat,
        "npy": lambda: [
            saved("npy", ".npy", _save_records, "-records"),
            saved("npy", ".npy", lambda path: np.save(path, _matrix()), unit=ORDER_ROWS),
        ],
        "ecd-zip": lambda: [
            written("ecd-zip", ".zip", unit=ALL),
            zipped(written("ecd-zip", ".zip")),
        ],
        "columns": lambda: [written("columns", ".columns")],
        "csv": lambda: [
            written("csv", ".csv"),
            written("csv", ".csv.gz"),
            gzipped(written("csv", ".csv")),
        ],
        "ecd": lambda: [
            written("ecd", ".txt"),
            gzipped(written("ecd", ".txt")),
        ],
        "nmnist": lambda: [_nmnist()],
        "hdf5": _hdf5,
    }
    return makers[reader]()


#: Names of the readers with samples; those of HDF5 layouts are in "hdf5".
READER_NAMES = (
    *("npz", "aedat4", "ros1", "ros2", "evt3", "evt2", "evt21", "dat", "aedat2", "aedat31", "es"),
    *("mat", "npy", "ecd-zip", "columns", "csv", "ecd", "nmnist", "hdf5"),
)
