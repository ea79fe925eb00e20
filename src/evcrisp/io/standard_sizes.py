"""Sensor sizes (width, height) to choose from when a file does not say its own."""

DVS_SIZES = ((128, 128), (240, 180), (346, 260), (640, 480))
PROPHESEE_SIZES = ((320, 320), (640, 480), (1280, 720))
ATIS_SIZES = ((304, 240), (640, 480), (1280, 720))
ALL_SIZES = (
    (128, 128),  # DVS128
    (240, 180),  # DAVIS240
    (304, 240),  # ATIS
    (320, 240),  # DVXplorer Lite
    (346, 260),  # DAVIS346
    (320, 320),  # GenX320
    (640, 480),  # DVXplorer, Gen3
    (1280, 720),  # Gen4, IMX636
    (1280, 800),  # Samsung Gen4
)
