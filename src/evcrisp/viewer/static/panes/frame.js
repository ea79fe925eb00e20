// The frame of the camera nearest to the middle of the window.

import { formatDuration } from "evcrisp/formatting";
import { viewOf } from "evcrisp/panes/pane";

/** Index of the nearest of sorted times. */
function nearest(times, wanted) {
  let best = 0;
  for (let k = 1; k < times.length; k++) if (Math.abs(times[k] - wanted) < Math.abs(times[best] - wanted)) best = k;
  return best;
}

/** Frames and IMU trace of the recording. */
export class Sensors {
  constructor(app) {
    this.app = app;
    this.frameTimes = new Float32Array(0); // ms since the first event
    this.imuTimes = new Float32Array(0);
    this.gyro = new Float32Array(0); // rad/s, x y z of each sample
    this.frame = null;
    this.isFetching = false;
  }

  get hasFrames() {
    return this.frameTimes.length > 0;
  }

  get hasImu() {
    return this.imuTimes.length > 1;
  }

  async load() {
    const { frame_ms: frames, imu_ms: times, gyro } = await this.app.source.sensors();
    this.frameTimes = frames;
    this.imuTimes = times ?? this.imuTimes;
    this.gyro = gyro ?? this.gyro;
    document.querySelector(".timeline").classList.toggle("has-imu", this.hasImu);
    this.app.layout();
    await this.update();
    this.app.paint();
  }

  /** Fetch the frame of the window; if it changes meanwhile, also the latest one. */
  async update() {
    if (!this.hasFrames || this.isFetching) return;
    const { t, window } = this.app.state.values;
    const index = nearest(this.frameTimes, (t + window / 2) / 1e3);
    if (this.frame?.index === index) return;
    this.isFetching = true;
    try {
      this.frame = { ...(await this.app.source.frame(index, t)), index };
    } finally {
      this.isFetching = false;
    }
    this.app.paint();
    await this.update();
  }
}

const sheet = document.createElement("canvas");

/** Draw the frame at its place on the sensor. */
export function paintFrame(app, ground) {
  const pane = app.panes.frame;
  const { frame } = app.sensors;
  const { state } = app;
  if (!frame) return;
  const middle = state.get("t") + state.get("window") / 2;
  const offset = frame.t - middle;
  pane.info(`${formatDuration(Math.abs(offset))} ${offset < 0 ? "before" : "after"} the middle of the window`);
  if (!pane.isOutdated(frame, ground, ...["zoom", "cx", "cy"].map((name) => state.get(name)))) return;
  const image = new ImageData(frame.width, frame.height);
  const words = new Uint32Array(image.data.buffer);
  for (let k = 0; k < frame.image.length; k++) words[k] = 0xff000000 | (frame.image[k] * 0x010101);
  Object.assign(sheet, { width: frame.width, height: frame.height });
  sheet.getContext("2d").putImageData(image, 0, 0);
  const context = pane.canvas.getContext("2d");
  const view = viewOf(pane.canvas, app.facts, state);
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.fillStyle = ground;
  context.fillRect(0, 0, pane.canvas.width, pane.canvas.height);
  context.imageSmoothingEnabled = view.scale < 1;
  context.drawImage(sheet, view.left + frame.x * view.scale, view.top + frame.y * view.scale, frame.width * view.scale, frame.height * view.scale);
}
