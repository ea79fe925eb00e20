// The Pareto front: points to click, with the regret solution marked.

import { styleColor } from "evcrisp/drawing/colors";
import { formatMotion, formatNumber, formatPercent } from "evcrisp/formatting";

const PAD = { left: 58, right: 16, top: 14, bottom: 34 };

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

  set(data) {
    this.data = data;
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

  /** Positions of the points on the canvas, CSS px. */
  places() {
    const { data } = this;
    const { clientWidth, clientHeight } = this.pane.canvas;
    const spread = (values, low, high) => {
      const [min, max] = [Math.min(...values), Math.max(...values)];
      return values.map((value) => low + ((value - min) / (max - min || 1)) * (high - low));
    };
    const x = spread(data.cost_ea, PAD.left + 10, clientWidth - PAD.right);
    const y = spread(data.cost_ed, clientHeight - PAD.bottom - 8, PAD.top + 6);
    return x.map((value, k) => [value, y[k]]);
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
    this.drawAxes(context, quiet);
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
    const [x, y] = places[this.data.regret_index];
    context.fillStyle = quiet;
    context.textAlign = x > canvas.clientWidth / 2 ? "right" : "left";
    context.fillText("regret", x + (x > canvas.clientWidth / 2 ? -12 : 12), y + 4);
  }

  drawAxes(context, color) {
    const { clientWidth: width, clientHeight: height } = this.pane.canvas;
    const { cost_ea: ea, cost_ed: ed } = this.data;
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
