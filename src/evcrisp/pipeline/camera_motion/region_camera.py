"""The camera of the region of a recording that is read."""

from collections.abc import Sequence

from evcrisp.core.camera import Camera, warn_of_mismatch
from evcrisp.estimators.estimate import warn_ideal_lens
from evcrisp.io.recording import Recording


def region_camera(
    camera: Camera | None, sensor: Recording | Sequence[int], motion: object = ""
) -> Camera | None:
    """Return a camera of the whole sensor for the region that is read; warn if it does not match.

    Without a camera, a rotation in a region has the ideal lens of the whole sensor, unless a calibration
    lies beside the events.
    """
    roi = sensor.cut.roi if isinstance(sensor, Recording) else None
    if camera is None and (roi is None or motion != "rotation"):
        return None
    if camera is None and isinstance(sensor, Recording) and sensor.camera() is not None:
        return None
    width, height = sensor.sensor_size if isinstance(sensor, Recording) else sensor
    if camera is None:
        warn_ideal_lens("rotation")
        camera = Camera.ideal((width, height))
    warn_of_mismatch(camera, (width, height))
    return camera if roi is None else camera.cropped(roi)
