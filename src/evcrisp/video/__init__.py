"""Videos of recordings: panes side by side, drawn by compiled code. Needs the extra ``video``."""

from evcrisp.core.palettes import PALETTES
from evcrisp.video.config import PANES, VideoConfig
from evcrisp.video.rendering import VIDEO_FORMATS, Video, render

__all__ = ["PALETTES", "PANES", "VIDEO_FORMATS", "Video", "VideoConfig", "render"]
