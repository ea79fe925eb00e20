"""Public names; loaded on first use."""

from .flow.files import read_flow as read_flow
from .flow.files import write_flow as write_flow
from .protocol import Packet as Packet
from .protocol import Reader as Reader
from .protocol import Sink as Sink
from .protocol import Source as Source
from .protocol import Writer as Writer
from .reading import detect as detect
from .reading import open_recording as open_recording
from .reading import read as read
from .recording import Recording as Recording
from .registry import READERS as READERS
from .registry import WRITERS as WRITERS
from .writing import write as write
from .writing import writer_for as writer_for
