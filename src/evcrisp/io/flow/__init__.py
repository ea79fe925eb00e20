"""Flow files: NPZ, Middlebury ``.flo`` and the 16-bit PNG of DSEC."""

from evcrisp.io.flow.files import read_flow, write_flow
from evcrisp.io.flow.formats import FLOW_FORMATS, FlowFormat

__all__ = ["FLOW_FORMATS", "FlowFormat", "read_flow", "write_flow"]
