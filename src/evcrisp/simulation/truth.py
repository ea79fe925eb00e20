"""Truth of a simulation without its events, for recordings that are streamed to a file."""

from dataclasses import asdict, dataclass
from typing import Any, Unpack

from evcrisp.core.sensor_data import Imu
from evcrisp.motion import MotionModel
from evcrisp.simulation.config import SimulationConfig
from evcrisp.simulation.generate import build_paths, motion_truth
from evcrisp.simulation.imu import build_imu
from evcrisp.simulation.result import MotionTruth
from evcrisp.simulation.settings import Settings, build_config, with_settings


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Truth:
    """True motion per window, IMU and settings of a simulation."""

    motion: MotionModel
    motion_truth: MotionTruth
    imu: Imu
    config: SimulationConfig

    def as_dict(self) -> dict[str, Any]:
        """Return windows, parameters with units, gyroscope and settings as JSON types."""
        settings = asdict(self.config)
        settings["scene"].pop("image")  # its digest stays
        windows = self.motion_truth
        return {
            "motion": self.config.motion,
            "param_names": list(self.motion.param_names),
            "param_units": list(self.motion.param_units),
            "windows": [
                {
                    "t_start_us": int(start),
                    "t_end_us": int(end),
                    "theta": windows.theta[:, i].tolist(),
                }
                for i, (start, end) in enumerate(zip(windows.t_start, windows.t_end, strict=True))
            ],
            "gyro": {"t_us": self.imu.t.tolist(), "rad_s": self.imu.gyro_rad_s.tolist()},
            "settings": settings,
        }


@with_settings
def simulate_truth(config: SimulationConfig | None = None, **settings: Unpack[Settings]) -> Truth:
    """Return the truth of the recording of :func:`simulate_chunks`; arguments as there.

    Examples
    --------
    >>> truth = simulate_truth(theta=(200.0, 0.0), duration_us=100_000)
    >>> truth.as_dict()["windows"][0]
    {'t_start_us': 0, 't_end_us': 50000, 'theta': [[200.0, 0.0]]}
    """
    config = build_config(config, settings)
    model, paths = build_paths(config)
    return Truth(
        motion=model,
        motion_truth=motion_truth(config, paths),
        imu=build_imu(config, paths[0]),
        config=config,
    )
