// The Pareto front: points to click, with the regret solution marked.

import { styleColor } from "evcrisp/drawing/colors";
import { formatMotion, formatNumber, formatPercent } from "evcrisp/formatting";

const PAD = { left: 58, right: 16, top: 14, bottom: 34 };
/** A smaller pane, CSS px, shows the points without texts, which would cover them. */
const LEAST_TEXT_PX = [150, 84];
const SMALL_PAD = { left: 0, right: 10, top: 10, bottom: 4 };

export class Front {
  constructor(pane, app) {
    this.pane = pane;
    this.app = app;
    this.data = null;
    this.hovered = -1;
    const { canvas } = pane;
    canvas.addEventListener("pointermove", (event) => {
      const index = this.nearest(event);
      canvas.title = index < 0 ? "" : this.describe(index);
      canvas.classList.toggle("is-clickable", index >= 0);
      if (index !== this.hovered) {
        this.hovered = index;
        app.paint();
      }
    });
    canvas.addEventListener("click", (event) => {
      const index = this.nearest(event);
      if (index >= 0) app.choosePoint(index === app.state.get("point") ? -1 : index);
    });
  }

  /** Whether there is space for texts. */
  get hasTexts() {
    const { clientWidth, clientHeight } = this.pane.canvas;
    return clientWidth >= LEAST_TEXT_PX[0] && clientHeight >= LEAST_TEXT_PX[1];
  }

  get pad() {
    return this.hasTexts ? PAD : SMALL_PAD;
  }

  set(data, request = null) {
    this.data = data;
    this.request = request;
    this.hovered = -1;
  }

  describe(index) {
    const { data } = this;
    const kept = data.n_events ? formatPercent(data.n_signal[index] / data.n_events) : "0 %";
    return [
      index === data.regret_index ? "Regret solution" : `Point ${index + 1} of ${data.thetas.length}`,
      formatMotion({ ...data, theta: data.thetas[index] }),
      `weight of denoising λ ${formatNumber(data.lam[index])}; keeps ${kept}`,
      `f_EA ${formatNumber(data.f_ea[index])}, f_ED ${formatNumber(data.f_ed[index])}`,
    ].join("\n");
  }

  /** Costs of all marks: the points, and the result of the method at the end. */
  costs(name) {
    const { data } = this;
    return data.own ? [...data[name], data.own[name]] : data[name];
  }

  /** Positions of the points on the canvas, and of the result of the method at the end, CSS px. */
  marks() {
    const { clientWidth, clientHeight } = this.pane.canvas;
    const { pad } = this;
    const spread = (values, low, high) => {
      const [min, max] = [Math.min(...values), Math.max(...values)];
      return values.map((value) => low + ((value - min) / (max - min || 1)) * (high - low));
    };
    const x = spread(this.costs("cost_ea"), pad.left + 10, clientWidth - pad.right);
    const y = spread(this.costs("cost_ed"), clientHeight - pad.bottom - 8, pad.top + 6);
    return x.map((value, k) => [value, y[k]]);
  }

  /** Positions of the points on the canvas, CSS px. */
  places() {
    return this.marks().slice(0, this.data.thetas.length);
  }

  nearest(event) {
    if (!this.data) return -1;
    const box = this.pane.canvas.getBoundingClientRect();
    const [px, py] = [event.clientX - box.left, event.clientY - box.top];
    let [best, distance] = [-1, 14];
    this.places().forEach(([x, y], k) => {
      const d = Math.hypot(x - px, y - py);
      if (d < distance) [best, distance] = [k, d];
    });
    return best;
  }

  draw(theme) {
    const { canvas } = this.pane;
    if (!this.pane.isOutdated(this.data, this.hovered, this.app.state.get("point"), theme)) return;
    const ratio = devicePixelRatio || 1;
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    if (!this.data) return;
    const [quiet, accent, panel] = ["quiet", "accent", "panel"].map((name) => styleColor(name, theme));
    if (this.hasTexts) this.drawAxes(context, quiet);
    const places = this.places();
    context.strokeStyle = quiet;
    context.lineWidth = 1;
    context.beginPath();
    places.forEach(([x, y], k) => context[k ? "lineTo" : "moveTo"](x, y));
    context.stroke();
    const chosen = this.app.state.get("point");
    places.forEach(([x, y], k) => {
      context.fillStyle = k === chosen ? accent : panel;
      context.strokeStyle = k === chosen || k === this.hovered ? accent : quiet;
      context.lineWidth = 2;
      context.beginPath();
      if (k === this.data.regret_index) star(context, x, y, k === chosen ? 10 : 8);
      else context.arc(x, y, k === chosen || k === this.hovered ? 6 : 4, 0, 2 * Math.PI);
      context.fill();
      context.stroke();
    });
    const regret = places[this.data.regret_index];
    const own = this.data.own ? this.marks().at(-1) : null;
    const isNear = own && Math.abs(own[0] - regret[0]) < 80 && Math.abs(own[1] - regret[1]) < 20;
    if (this.hasTexts && isNear) this.label(context, [Math.max(own[0], regret[0]), regret[1]], "regret", quiet);
    else if (this.hasTexts) this.labelAbove(context, regret, "regret", quiet);
    if (own) this.drawOwn(context, own, isNear ? Math.max(regret[1], PAD.top + 4) + 14 : own[1], styleColor("doubt", theme));
  }

  /** The result of the method as a diamond. */
  drawOwn(context, [x, y], textTop, color) {
    context.fillStyle = color;
    context.beginPath();
    [[0, -7], [7, 0], [0, 7], [-7, 0]].forEach(([dx, dy], k) => context[k ? "lineTo" : "moveTo"](x + dx, y + dy));
    context.closePath();
    context.fill();
    if (this.hasTexts) this.label(context, [x, textTop], this.data.own.method, color);
  }

  /** Text beside a mark, on the side with more space, and not above the frame. */
  label(context, [x, y], text, color) {
    const isRight = x > this.pane.canvas.clientWidth / 2;
    context.fillStyle = color;
    context.textAlign = isRight ? "right" : "left";
    context.fillText(text, x + (isRight ? -12 : 12), Math.max(y + 4, PAD.top + 8));
  }

  /** Text above a point of the front, to its right if there is space: the front falls, and is not there. */
  labelAbove(context, [x, y], text, color) {
    const isAtEnd = x + 12 + context.measureText(text).width > this.pane.canvas.clientWidth - PAD.right;
    context.fillStyle = color;
    context.textAlign = isAtEnd ? "right" : "left";
    context.fillText(text, x + (isAtEnd ? 4 : 8), Math.max(y - 9, PAD.top + 8));
  }

  drawAxes(context, color) {
    const { clientWidth: width, clientHeight: height } = this.pane.canvas;
    const [ea, ed] = ["cost_ea", "cost_ed"].map((name) => this.costs(name));
    const [left, right, bottom] = [PAD.left, width - PAD.right, height - PAD.bottom];
    context.font = "11px system-ui, sans-serif";
    context.fillStyle = context.strokeStyle = color;
    context.lineWidth = 1;
    context.strokeRect(left, PAD.top - 6, right - left + 10, bottom - PAD.top + 6);
    context.textAlign = "center";
    context.fillText("cost of alignment, smaller is sharper", (left + right) / 2, height - 6);
    context.textAlign = "left";
    context.fillText(formatNumber(Math.min(...ea)), left, bottom + 14);
    context.textAlign = "right";
    context.fillText(formatNumber(Math.max(...ea)), right + 8, bottom + 14);
    context.fillText(formatNumber(Math.max(...ed)), left - 5, PAD.top + 6);
    context.fillText(formatNumber(Math.min(...ed)), left - 5, bottom);
    if (bottom - PAD.top < 95) return; // too low for the text
    context.save();
    context.translate(12, (PAD.top + bottom) / 2);
    context.rotate(-Math.PI / 2);
    context.textAlign = "center";
    context.fillText("cost of denoising", 0, 0);
    context.restore();
  }
}

function star(context, x, y, size) {
  for (let k = 0; k < 10; k++) {
    const [angle, radius] = [(Math.PI * k) / 5 - Math.PI / 2, k % 2 ? size * 0.45 : size];
    context[k ? "lineTo" : "moveTo"](x + radius * Math.cos(angle), y + radius * Math.sin(angle));
  }
  context.closePath();
}
