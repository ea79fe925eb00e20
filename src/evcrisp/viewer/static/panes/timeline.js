// Event rate and motion over the recording; click or drag to select the time.

import { LINES, palette, styleColor } from "evcrisp/drawing/colors";
import { formatCompact, formatNumber } from "evcrisp/formatting";

const PAD = { left: 64, right: 12, top: 8, bottom: 18 };

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
    const half = (height - PAD.top - PAD.bottom) / 2;
    const size = [canvas.width, canvas.height, ratio, theme, duration];
    const [colors, method, motion] = ["colors", "method", "motion"].map((name) => app.state.get(name));
    this.rate.update(canvas, [...size, app.facts.rate, colors], (sheet) => {
      this.drawRate(sheet, plot, PAD.top, half - 4, theme, quiet);
      drawAxis(sheet, plot, height, quiet);
    });
    this.motion.update(canvas, [...size, this.track, this.nVisits, method, motion], (sheet) => {
      this.drawMotion(sheet, plot, PAD.top + half + 4, half - 4, theme, quiet);
    });
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.drawWindow(context, plot, height, styleColor("accent", theme));
    context.setTransform(1, 0, 0, 1, 0, 0);
    for (const sheet of [this.rate, this.motion]) context.drawImage(sheet.canvas, 0, 0);
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

  /** Motion of the whole recording, in rows of [middle, is good, share kept, parameters...], and of single windows. */
  rows() {
    const [method, motion] = [this.app.state.get("method"), this.app.state.get("motion")];
    const same = this.track && this.track.method === method && this.track.motion === motion;
    const dots = [...this.visited.values()].filter((r) => r.method === method && r.motion === motion);
    return { track: same ? this.track : null, dots };
  }

  drawMotion(context, plot, top, height, theme, ink) {
    const { track, dots } = this.rows();
    const names = track?.names ?? dots[0]?.names;
    const bottom = top + height;
    if (!names) {
      context.fillStyle = ink;
      context.textAlign = "left";
      context.fillText("Motion of the windows you visit; “Motion over time” computes all windows", plot.x + 6, top + height / 2 + 4);
      return;
    }
    const unit = (track ?? dots[0]).units;
    const shown = names.map((_, k) => k).filter((k) => unit[k] === unit[0]);
    const size = 3 + names.length;
    const n = track ? track.rows.length / size : 0;
    let [low, high] = [0, 0];
    const take = (value) => ([low, high] = [Math.min(low, value), Math.max(high, value)]);
    for (const k of shown) {
      for (let row = 0; row < n; row++) if (track.rows[row * size + 1]) take(track.rows[row * size + 3 + k]);
      for (const dot of dots) take(dot.theta[k]);
    }
    const y = (value) => bottom - ((value - low) / (high - low || 1)) * height;
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
      context.beginPath();
      let isDown = false;
      for (let row = 0; row < n; row++) {
        const [t, good] = [track.rows[row * size], track.rows[row * size + 1]];
        if (good) context[isDown ? "lineTo" : "moveTo"](plot.at(t), y(track.rows[row * size + 3 + k]));
        isDown = Boolean(good);
      }
      context.stroke();
      for (const dot of dots) {
        const place = [plot.at(dot.middle) - 1.5, y(dot.theta[k]) - 1.5, 3, 3];
        if (dot.is_reliable === false) context.strokeRect(...place); // doubtful: hollow
        else context.fillRect(...place);
      }
      context.textAlign = "left";
      context.fillText(names[k], plot.x + 6 + 28 * shown.indexOf(k), top + 9);
    }
    label(context, ink, unit[0], formatNumber(high), top, bottom, formatNumber(low));
  }
}

function label(context, ink, unit, high, top, bottom, low = "0") {
  context.fillStyle = ink;
  context.textAlign = "right";
  context.fillText(high, PAD.left - 6, top + 8);
  context.fillText(unit, PAD.left - 6, (top + bottom) / 2 + 4);
  context.fillText(low, PAD.left - 6, bottom);
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
