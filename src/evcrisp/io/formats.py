"""The tables of formats: one line each, written by hand."""

from evcrisp.io._protocol import Reader, Writer
from evcrisp.io.hdf5 import Hdf5Reader
from evcrisp.io.hdf5_dsec import DsecWriter
from evcrisp.io.npz import NpzReader, NpzWriter

#: Readers by name. Detection asks them in this order; formats without a magic number come last.
READERS: dict[str, Reader] = {reader.name: reader for reader in (NpzReader(), Hdf5Reader())}

#: Writers by name. The first one that has a suffix is the default for it.
WRITERS: dict[str, type[Writer]] = {writer.name: writer for writer in (NpzWriter, DsecWriter)}
