"""File formats by name: readers and writers."""

from evcrisp.core.registry import Registry, lookup
from evcrisp.io.protocol import Reader, Writer

#: Readers by name, in the order of detection.
READERS: Registry[Reader] = Registry(
    "format",
    {
        "npz": "evcrisp.io.arrays.npz:NpzReader",
        "aedat4": "evcrisp.io.aedat.aedat4:Aedat4Reader",
        "dsec": "evcrisp.io.hdf5.dsec:DsecReader",
        "mvsec": "evcrisp.io.hdf5.reader:MvsecReader",
        "m3ed": "evcrisp.io.hdf5.reader:M3edReader",
        "prophesee-hdf5": "evcrisp.io.hdf5.reader:PropheseeHdf5Reader",
        "hdf5": "evcrisp.io.hdf5.reader:Hdf5Reader",
        "ros1": "evcrisp.io.ros.readers:Ros1Reader",
        "ros2": "evcrisp.io.ros.readers:Ros2Reader",
        "raw": "evcrisp.io.prophesee.evt:RawReader",
        "evt3": "evcrisp.io.prophesee.evt:Evt3Reader",
        "evt2": "evcrisp.io.prophesee.evt:Evt2Reader",
        "evt21": "evcrisp.io.prophesee.evt:Evt21Reader",
        "dat": "evcrisp.io.prophesee.dat:DatReader",
        "aedat2": "evcrisp.io.aedat.aedat2:Aedat2Reader",
        "aedat31": "evcrisp.io.aedat.aedat31:Aedat31Reader",
        "es": "evcrisp.io.other.es:EsReader",
        "mat": "evcrisp.io.arrays.mat:MatReader",
        "npy": "evcrisp.io.arrays.npy:NpyReader",
        "ecd-zip": "evcrisp.io.text.ecd:EcdZipReader",
        "columns": "evcrisp.io.arrays.npy:ColumnsReader",
        "csv": "evcrisp.io.text.csv:CsvReader",
        "ecd": "evcrisp.io.text.ecd:EcdReader",
        "nmnist": "evcrisp.io.other.nmnist:NmnistReader",
    },
    group="evcrisp.readers",
    calls=True,
)

#: Writers by name. The first one that has a suffix is the default for it.
WRITERS: Registry[type[Writer]] = Registry(
    "output format",
    {
        "npz": "evcrisp.io.arrays.npz:NpzWriter",
        "aedat4": "evcrisp.io.aedat.aedat4_writer:Aedat4Writer",
        "dsec": "evcrisp.io.hdf5.dsec:DsecWriter",
        "evt3": "evcrisp.io.prophesee.evt_writers:Evt3Writer",
        "evt2": "evcrisp.io.prophesee.evt_writers:Evt2Writer",
        "dat": "evcrisp.io.prophesee.dat:DatWriter",
        "ros1": "evcrisp.io.ros.writers:Ros1Writer",
        "ros2": "evcrisp.io.ros.writers:Ros2Writer",
        "es": "evcrisp.io.other.es:EsWriter",
        "columns": "evcrisp.io.arrays.npy:ColumnsWriter",
        "ecd": "evcrisp.io.text.ecd:EcdWriter",
        "ecd-zip": "evcrisp.io.text.ecd:EcdZipWriter",
        "csv": "evcrisp.io.text.csv:CsvWriter",
    },
    group="evcrisp.writers",
)

#: Formats without a magic number. Detection asks them after all others.
_NO_MAGIC = ("csv", "ecd", "nmnist")


def detection_order() -> list[Reader]:
    """Return all readers; registered ones come before the formats without a magic number."""
    names = sorted(READERS, key=_NO_MAGIC.__contains__)
    return [as_reader(READERS[name]) for name in names]


def as_reader(format: str | Reader | type[Reader]) -> Reader:
    """Return the reader of a format that is given by name, as a class, or as an object."""
    if isinstance(format, str) or not hasattr(format, "open"):
        format = lookup(READERS, format, "format")
    return format() if isinstance(format, type) else format
