// Event rate and motion over the recording; click or drag to select the time.

import { LINES, palette, styleColor } from "evcrisp/drawing/colors";
import { formatCompact, formatNumber } from "evcrisp/formatting";

/** Names of the lines stand right of the plot, so that they cover nothing. */
const PAD = { left: 64, right: 34, top: 8, bottom: 18 };
/** Height of a plot with a line for the unit, CSS px; in a lower one, the unit stands behind the highest value. */
const LEAST_UNIT_LINE = 34;
/** Space above motions for the signs of doubtful windows. */
const SIGNS = 11;

/** A cached drawing, which is repeated only when its inputs change. */
class CachedDrawing {
  constructor() {
    this.canvas = document.createElement("canvas");
    this.inputs = [];
  }

  update({ width, height }, inputs, draw) {
    if (inputs.length === this.inputs.length && inputs.every((value, k) => value === this.inputs[k])) return;
    this.inputs = inputs;
    Object.assign(this.canvas, { width, height }); // also clears it
    const context = this.canvas.getContext("2d");
    const ratio = devicePixelRatio || 1;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.font = "11px system-ui, sans-serif";
    draw(context);
  }
}

export class Timeline {
  constructor(canvas, app) {
    this.canvas = canvas;
    this.app = app;
    this.visited = new Map(); // motion of the windows shown so far, by method and time
    this.nVisits = 0;
    this.track = null; // motion of the whole recording
    this.rate = new CachedDrawing();
    this.motion = new CachedDrawing();
    this.imu = new CachedDrawing();
    let isDragging = false;
    const go = (event) => {
      const box = canvas.getBoundingClientRect();
      const share = (event.clientX - box.left - PAD.left) / (box.width - PAD.left - PAD.right);
      app.goTo(share * app.facts.duration_us - (app.isAuto ? 0 : app.state.get("window") / 2));
    };
    canvas.addEventListener("pointerdown", (event) => {
      isDragging = true;
      canvas.setPointerCapture(event.pointerId);
      go(event);
    });
    canvas.addEventListener("pointermove", (event) => isDragging && go(event));
    canvas.addEventListener("pointerup", () => (isDragging = false));
  }

  /** Store the motion of a window. */
  visit(result) {
    if (!result.is_good || result.kind !== "estimate") return;
    const middle = result.start_us + result.duration_us / 2;
    this.nVisits += 1;
    this.visited.set(`${result.method} ${result.motion} ${middle}`, { middle, ...result, ...result.row });
    if (this.visited.size > 2000) this.visited.delete(this.visited.keys().next().value);
  }

  draw(theme) {
    const { canvas, app } = this;
    const ratio = devicePixelRatio || 1;
    const context = canvas.getContext("2d");
    const [width, height] = [canvas.width / ratio, canvas.height / ratio];
    const quiet = styleColor("quiet", theme);
    const duration = Math.max(app.facts.duration_us, 1);
    const plot = { x: PAD.left, width: width - PAD.left - PAD.right, duration };
    plot.at = (t) => plot.x + Math.min(t / duration, 1) * plot.width;
    const { sensors } = app;
    const lane = (height - PAD.top - PAD.bottom) / (sensors.hasImu ? 3 : 2);
    const size = [canvas.width, canvas.height, ratio, theme, duration];
    const [colors, method, motion] = ["colors", "method", "motion"].map((name) => app.state.get(name));
    this.rate.update(canvas, [...size, app.facts.rate, colors], (sheet) => {
      this.drawRate(sheet, plot, PAD.top, lane - 4, theme, quiet);
      drawAxis(sheet, plot, height, quiet);
    });
    if (sensors.hasImu) {
      this.imu.update(canvas, [...size, sensors.gyro], (sheet) => drawImu(sheet, plot, PAD.top + 2 * lane + 4, lane - 6, sensors, theme, quiet));
    }
    this.motion.update(canvas, [...size, this.track, this.nVisits, method, motion], (sheet) => {
      this.drawMotion(sheet, plot, PAD.top + lane + SIGNS, lane - SIGNS - 3, theme, quiet);
    });
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.drawWindow(context, plot, height, styleColor("accent", theme));
    context.setTransform(1, 0, 0, 1, 0, 0);
    for (const sheet of [this.rate, this.motion, ...(sensors.hasImu ? [this.imu] : [])]) context.drawImage(sheet.canvas, 0, 0);
  }

  drawWindow(context, plot, height, color) {
    const [t, duration] = [this.app.state.get("t"), this.app.state.get("window")];
    const x = plot.at(Math.max(0, t));
    context.fillStyle = color;
    context.globalAlpha = 0.25;
    context.fillRect(x, 2, Math.max(2, plot.at(t + duration) - x), height - PAD.bottom);
    context.globalAlpha = 1;
    context.fillRect(x, 2, 1, height - PAD.bottom);
  }

  drawRate(context, plot, top, height, theme, ink) {
    const { rate } = this.app.facts;
    const colors = palette(this.app.state.get("colors"), theme);
    const totals = rate.on.map((n, k) => n + rate.off[k]);
    // The peak of the counts, not of the rate of the last bin, which is not full.
    const peak = Math.max(...totals, 1);
    const bottom = top + height;
    const shades = this.app.state.get("colors") === "white-black" ? [ink, ink] : [colors.off, colors.on];
    for (const [values, base, color, alpha] of [[rate.off, rate.on.map(() => 0), shades[0], 0.9], [rate.on, rate.off, shades[1], 0.6]]) {
      context.fillStyle = color;
      context.globalAlpha = alpha;
      values.forEach((n, k) => {
        const x = plot.at(k * rate.bin_us);
        const right = Math.min(plot.at((k + 1) * rate.bin_us), plot.x + plot.width);
        context.fillRect(x, bottom - ((base[k] + n) / peak) * height, Math.max(0.6, right - x), (n / peak) * height);
      });
    }
    context.globalAlpha = 1;
    label(context, ink, "events/s", `${formatCompact(peak / (rate.bin_us / 1e6))}`, top, bottom);
  }

  /** Motions of windows with the chosen method and motion: of all windows, if computed, and of visited ones. */
  windows() {
    const [method, motion] = [this.app.state.get("method"), this.app.state.get("motion")];
    const isSame = this.track && this.track.method === method && this.track.motion === motion;
    const dots = [...this.visited.values()].filter((result) => result.method === method && result.motion === motion);
    const visited = dots.map((dot) => ({ middle: dot.middle, length: dot.duration_us, isGood: true, isReliable: dot.is_reliable !== false, theta: dot.theta }));
    return { named: isSame ? this.track : dots[0], track: isSame ? rowsOf(this.track) : [], visited };
  }

  drawMotion(context, plot, top, height, theme, ink) {
    const { named, track, visited } = this.windows();
    const bottom = top + height;
    if (!named) {
      context.fillStyle = ink;
      context.textAlign = "left";
      context.fillText("Motion of the windows you visit; “Motion over time” computes all windows", plot.x + 6, top + height / 2 + 4);
      return;
    }
    const { names, units } = named;
    const shown = names.map((_, k) => k).filter((k) => units[k] === units[0]);
    const all = [...track, ...visited].filter((window) => window.isGood);
    const [low, high] = rangeOf(all, shown);
    // Doubtful values outside the range of the others stand at its border.
    const y = (value) => bottom - ((Math.min(high, Math.max(low, value)) - low) / (high - low || 1)) * height;
    drawDoubtful(context, plot, top, height, all, styleColor("doubt", theme));
    context.strokeStyle = ink;
    context.globalAlpha = 0.4;
    context.beginPath();
    context.moveTo(plot.x, y(0));
    context.lineTo(plot.x + plot.width, y(0));
    context.stroke();
    context.globalAlpha = 1;
    for (const k of shown) {
      context.strokeStyle = context.fillStyle = LINES[theme][k % LINES[theme].length];
      context.lineWidth = 1.5;
      drawLine(context, plot, track, k, y);
      const marked = [...track.filter(({ isGood, isReliable }) => isGood && !isReliable), ...visited];
      for (const window of marked) drawMark(context, [plot.at(window.middle), y(window.theta[k])], window.isReliable);
    }
    drawNames(context, plot, top, shown.map((k) => [names[k], LINES[theme][k % LINES[theme].length]]));
    label(context, ink, units[0], formatNumber(high), top, bottom, formatNumber(low));
  }
}

/** Windows of a track, whose rows are [middle, length, is good, is reliable, parameters...]. */
function rowsOf(track) {
  const size = 4 + track.names.length;
  return Array.from({ length: track.rows.length / size }, (_, k) => {
    const [middle, length, isGood, isReliable, ...theta] = track.rows.subarray(k * size, (k + 1) * size);
    return { middle, length, isGood: Boolean(isGood), isReliable: Boolean(isReliable), theta };
  });
}

/** Range of the parameters of reliable windows, with 0; of all windows if none is reliable. */
export function rangeOf(windows, shown) {
  const reliable = windows.filter(({ isReliable }) => isReliable);
  const values = (reliable.length ? reliable : windows).flatMap(({ theta }) => shown.map((k) => theta[k]));
  return [Math.min(0, ...values), Math.max(0, ...values)];
}

/** Line through reliable windows; doubtful ones interrupt it. */
function drawLine(context, plot, windows, k, y) {
  context.beginPath();
  let isDown = false;
  for (const { middle, isGood, isReliable, theta } of windows) {
    const isShown = isGood && isReliable;
    if (isShown) context[isDown ? "lineTo" : "moveTo"](plot.at(middle), y(theta[k]));
    isDown = isShown;
  }
  context.stroke();
}

/** A filled square, or a hollow one for a doubtful motion. */
function drawMark(context, [x, y], isReliable) {
  if (isReliable) context.fillRect(x - 1.5, y - 1.5, 3, 3);
  else context.strokeRect(x - 2, y - 2, 4, 4);
}

/** A ground behind doubtful windows, and a sign where there is space. */
function drawDoubtful(context, plot, top, height, windows, color) {
  context.fillStyle = color;
  context.textAlign = "center";
  let free = -Infinity;
  for (const { middle, length } of windows.filter(({ isReliable }) => !isReliable)) {
    const [left, right] = [plot.at(Math.max(0, middle - length / 2)), plot.at(middle + length / 2)];
    context.globalAlpha = 0.18;
    context.fillRect(left, top - SIGNS, Math.max(1, right - left), height + SIGNS + 2);
    context.globalAlpha = 1;
    const x = (left + right) / 2;
    if (x < free) continue;
    context.fillText("⚠", x, top - 2);
    free = x + 16;
  }
}

/** Names of the lines in their colors, one below the other. */
function drawNames(context, plot, top, names) {
  context.textAlign = "left";
  names.forEach(([name, color], k) => {
    context.fillStyle = color;
    context.fillText(name, plot.x + plot.width + 6, top + 9 + 12 * k);
  });
}

/** Angular velocity of the camera, rad/s. */
function drawImu(context, plot, top, height, { imuTimes, gyro }, theme, ink) {
  const [low, high] = gyro.reduce(([a, b], value) => [Math.min(a, value), Math.max(b, value)], [0, 0]);
  const y = (value) => top + height - ((value - low) / (high - low || 1)) * height;
  context.lineWidth = 1;
  for (let axis = 0; axis < 3; axis++) {
    context.strokeStyle = LINES[theme][axis];
    context.beginPath();
    imuTimes.forEach((ms, k) => {
      if (ms >= 0 && ms * 1e3 <= plot.duration) context.lineTo(plot.at(ms * 1e3), y(gyro[3 * k + axis]));
    });
    context.stroke();
  }
  drawNames(context, plot, top, ["ωx", "ωy", "ωz"].map((name, axis) => [name, LINES[theme][axis]]));
  label(context, ink, "rad/s", formatNumber(high), top, top + height, formatNumber(low));
}

function label(context, ink, unit, high, top, bottom, low = "0") {
  context.fillStyle = ink;
  context.textAlign = "right";
  const hasUnitLine = bottom - top >= LEAST_UNIT_LINE;
  const [right, room] = [PAD.left - 6, PAD.left - 8];
  context.fillText(hasUnitLine ? high : `${high} ${unit}`, right, top + 8, room);
  if (hasUnitLine) context.fillText(unit, right, (top + bottom) / 2 + 4, room);
  context.fillText(low, right, bottom, room);
}

function drawAxis(context, plot, height, ink) {
  const wanted = plot.duration / Math.max(2, plot.width / 110);
  const power = 10 ** Math.floor(Math.log10(wanted));
  const step = [1, 2, 5, 10].map((k) => k * power).find((k) => k >= wanted);
  const inMs = plot.duration < 2e6;
  context.fillStyle = ink;
  context.textAlign = "center";
  for (let t = 0; t <= plot.duration; t += step) {
    const text = formatNumber(inMs ? t / 1e3 : t / 1e6);
    context.fillText(t === 0 ? `0 ${inMs ? "ms" : "s"}` : text, plot.at(t), height - 5);
    context.fillRect(plot.at(t), height - PAD.bottom, 1, 3);
  }
}
