"""Read and write recordings: one file per format family, shared rules in ``recording.py``."""

from evcrisp.io.detect import detect
from evcrisp.io.protocol import Packet, Reader, Sink, Source, Writer
from evcrisp.io.reading import open_recording, read
from evcrisp.io.recording import Recording
from evcrisp.io.registry import READERS, WRITERS
from evcrisp.io.writing import write, writer_for

__all__ = [
    "READERS",
    "WRITERS",
    "Packet",
    "Reader",
    "Recording",
    "Sink",
    "Source",
    "Writer",
    "detect",
    "open_recording",
    "read",
    "write",
    "writer_for",
]
