"""Motion of a calibrated camera: its calibration, its gyroscope, and how well both agree."""
