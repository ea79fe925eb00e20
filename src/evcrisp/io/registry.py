"""The tables of formats: one line each, written by hand."""

from evcrisp.io.aedat.aedat2 import Aedat2Reader
from evcrisp.io.aedat.aedat4 import Aedat4Reader
from evcrisp.io.aedat.aedat4_writer import Aedat4Writer
from evcrisp.io.aedat.aedat31 import Aedat31Reader
from evcrisp.io.arrays.mat import MatReader
from evcrisp.io.arrays.npy import ColumnsReader, ColumnsWriter, NpyReader
from evcrisp.io.arrays.npz import NpzReader, NpzWriter
from evcrisp.io.hdf5.dsec import DsecWriter
from evcrisp.io.hdf5.reader import LAYOUTS, Hdf5Reader
from evcrisp.io.other.es import EsReader, EsWriter
from evcrisp.io.other.nmnist import NmnistReader
from evcrisp.io.prophesee.dat import DatReader, DatWriter
from evcrisp.io.prophesee.evt import Evt2Reader, Evt3Reader, Evt21Reader, RawReader
from evcrisp.io.prophesee.evt_writers import Evt2Writer, Evt3Writer
from evcrisp.io.protocol import Reader, Writer
from evcrisp.io.ros.ros1 import Ros1Reader
from evcrisp.io.ros.ros2 import Ros2Reader
from evcrisp.io.text.csv import CsvReader, CsvWriter
from evcrisp.io.text.ecd import EcdReader, EcdWriter
from evcrisp.io.text.ecd_zip import EcdZipReader, EcdZipWriter

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
