"""Live use: events from a camera or a program, cleaned while they come."""

from evcrisp.streaming.live import LivePart, live
from evcrisp.streaming.protocol import LiveSink, LiveSource
from evcrisp.streaming.summary import LiveSummary

__all__ = ["LivePart", "LiveSink", "LiveSource", "LiveSummary", "live"]
