"""The tables of formats: one line each, written by hand."""

from evcrisp.io._protocol import Reader, Writer
from evcrisp.io.aedat2 import Aedat2Reader
from evcrisp.io.aedat4 import Aedat4Reader
from evcrisp.io.aedat4_writer import Aedat4Writer
from evcrisp.io.aedat31 import Aedat31Reader
from evcrisp.io.csv import CsvReader, CsvWriter
from evcrisp.io.dat import DatReader, DatWriter
from evcrisp.io.ecd import EcdReader, EcdWriter
from evcrisp.io.ecd_zip import EcdZipReader, EcdZipWriter
from evcrisp.io.es import EsReader, EsWriter
from evcrisp.io.evt import Evt2Reader, Evt3Reader, Evt21Reader, RawReader
from evcrisp.io.evt_writers import Evt2Writer, Evt3Writer
from evcrisp.io.hdf5 import LAYOUTS, Hdf5Reader
from evcrisp.io.hdf5_dsec import DsecWriter
from evcrisp.io.mat import MatReader
from evcrisp.io.nmnist import NmnistReader
from evcrisp.io.npy import ColumnsReader, ColumnsWriter, NpyReader
from evcrisp.io.npz import NpzReader, NpzWriter
from evcrisp.io.ros1 import Ros1Reader
from evcrisp.io.ros2 import Ros2Reader

#: Readers by name. Detection asks them in this order; formats without a magic number come last.
READERS: dict[str, Reader] = {
    reader.name: reader
    for reader in (
        NpzReader(),
        Aedat4Reader(),
        *LAYOUTS,
        Hdf5Reader(),
        Ros1Reader(),
        Ros2Reader(),
        RawReader(),
        Evt3Reader(),
        Evt2Reader(),
        Evt21Reader(),
        DatReader(),
        Aedat2Reader(),
        Aedat31Reader(),
        EsReader(),
        MatReader(),
        NpyReader(),
        EcdZipReader(),
        ColumnsReader(),
        CsvReader(),
        EcdReader(),
        NmnistReader(),
    )
}

#: Writers by name. The first one that has a suffix is the default for it.
WRITERS: dict[str, type[Writer]] = {
    writer.name: writer
    for writer in (
        NpzWriter,
        Aedat4Writer,
        DsecWriter,
        Evt3Writer,
        Evt2Writer,
        DatWriter,
        EsWriter,
        ColumnsWriter,
        EcdWriter,
        EcdZipWriter,
        CsvWriter,
    )
}
