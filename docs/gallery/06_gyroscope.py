"""
Rotation against a gyroscope
============================

A camera with known calibration turns back and forth about its optical axis, and sideways. The rotation
that is estimated from the events alone is compared with the gyroscope, simulated with noise and bias.

A real recording with an IMU and a calibration of the camera: ``python 06_gyroscope.py FILE CALIB``. Files
keep the axes of their IMU; signs may differ.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

import evcrisp
from evcrisp.plots import draw_motion

if len(sys.argv) > 2:
    camera = evcrisp.Camera.from_file(sys.argv[2])
    with evcrisp.open(sys.argv[1]) as recording:
        events, imu = recording.read(), recording.imu()
    if imu is None:
        sys.exit(f"{sys.argv[1]} has no IMU")
else:
    camera = evcrisp.Camera.ideal((240, 180))
    scene = evcrisp.simulate(
        motion="rotation", theta=(0.4, -0.8, 2.0), trajectory="sine", period_us=500_000,
        camera=camera, resolution=(240, 180), duration_us=500_000, noise_hz=5.0,
        gyro_noise_rad_s=0.02, gyro_bias_rad_s=(0.0, 0.05, 0.0), seed=3,
    )  # fmt: skip
    events, imu = scene.events, scene.imu

results = list(evcrisp.track(events, motion="rotation", camera=camera))

# %%
# Gray lines are the gyroscope, colored ones the camera, with intervals of 95 % as bands. The constant offset
# of wy is the bias of the gyroscope, 0.05 rad/s.

figure, axes = plt.subplots(3, 1, figsize=(9, 6.5), sharex=True, layout="constrained")
draw_motion(axes, results, imu=imu)
plt.show()

# %%
# Mean of gyroscope minus camera, and the spread around it, per axis:

found = np.array([result.theta for result in results])
t_ref = np.array([result.window.t_ref for result in results])
gyro = np.stack([np.interp(t_ref, imu.t, axis) for axis in imu.gyro_rad_s.T], axis=1)
print("mean:  ", (gyro - found).mean(axis=0).round(3), "rad/s")
print("spread:", (gyro - found).std(axis=0).round(3), "rad/s")
