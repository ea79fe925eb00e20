// Panes, and the common view of the sensor in all images.

import { attachWheel } from "evcrisp/controls/wheel";

/** Set the size of a canvas to the pixels it covers; return true if it has changed. */
export function fitCanvas(canvas) {
  const ratio = devicePixelRatio || 1;
  const width = Math.max(1, Math.round(canvas.clientWidth * ratio));
  const height = Math.max(1, Math.round(canvas.clientHeight * ratio));
  if (canvas.width === width && canvas.height === height) return false;
  canvas.width = width;
  canvas.height = height;
  return true;
}

export class Pane {
  constructor(name) {
    this.name = name;
    this.element = document.querySelector(`[data-pane="${name}"]`);
    this.canvas = this.element.querySelector("canvas");
    this.title = this.element.querySelector("h2");
    this.infoElement = this.element.querySelector(".info");
    this.keyElement = this.element.querySelector(".key");
    this.keyInputs = "";
    this.keyText = "";
    this.isInView = true;
    new IntersectionObserver(([entry]) => {
      this.isInView = entry.isIntersecting;
      this.onView?.();
    }).observe(this.element);
  }

  /** Whether a part of the pane can be seen: not hidden, not covered, not scrolled away. */
  get isSeen() {
    return this.isShown && !this.isCovered && this.isInView;
  }

  /** Fill the line below the picture with elements and texts; it covers nothing. */
  key(inputs, text, makeParts) {
    if (this.keyInputs === inputs) return;
    this.keyInputs = inputs;
    this.keyText = inputs ? text : ""; // a hidden key has no text
    this.keyElement.hidden = !inputs;
    this.keyElement.replaceChildren(...(inputs ? makeParts() : []));
  }

  get isShown() {
    return !this.element.hidden;
  }

  /** Write the line beside the title; a doubtful one is marked. */
  info(text, isDoubtful = false, title = text) {
    this.infoElement.classList.toggle("is-doubtful", isDoubtful);
    if (this.infoElement.title !== title) this.infoElement.title = title;
    if (this.infoElement.textContent !== text) this.infoElement.textContent = text;
  }

  /** Whether an input of the drawing has changed since the last call. */
  isOutdated(...inputs) {
    if (this.isCovered || !this.isShown) return false;
    const now = [this.canvas.width, this.canvas.height, ...inputs];
    const isSame = this.inputs?.length === now.length && now.every((value, k) => value === this.inputs[k]);
    this.inputs = now;
    return !isSame;
  }

  setStale(flag) {
    this.element.classList.toggle("is-stale", flag);
  }
}

/** Position of the sensor on a canvas: px of the canvas per px of the sensor, center, and top left corner. */
export function viewOf(canvas, facts, state) {
  const fit = Math.min(canvas.width / facts.width, canvas.height / facts.height);
  const scale = fit * state.get("zoom");
  const cx = state.get("cx") < 0 ? facts.width / 2 : state.get("cx");
  const cy = state.get("cy") < 0 ? facts.height / 2 : state.get("cy");
  return { scale, cx, cy, left: canvas.width / 2 - cx * scale, top: canvas.height / 2 - cy * scale };
}

/** The same as scale and offset in WebGL coordinates. */
export function clipOf(canvas, view) {
  const x = (2 * view.scale) / canvas.width;
  const y = (2 * view.scale) / canvas.height;
  return [x, -y, -view.cx * x, view.cy * y];
}

export function frameSensor(canvas, facts, view, color) {
  const context = canvas.getContext("2d");
  context.strokeStyle = color;
  context.lineWidth = 1;
  context.strokeRect(view.left - 0.5, view.top - 0.5, facts.width * view.scale + 1, facts.height * view.scale + 1);
}

/** The wheel zooms at the pointer, dragging moves, a double click shows the whole sensor. */
export function attachView(pane, app) {
  const { canvas } = pane;
  const { state } = app;
  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    const view = viewOf(canvas, app.facts, state);
    const ratio = canvas.width / box.width;
    const x = ((event.clientX - box.left) * ratio - view.left) / view.scale;
    const y = ((event.clientY - box.top) * ratio - view.top) / view.scale;
    return { x, y, view, ratio };
  };
  attachWheel(canvas, (event) => {
    const { x, y, view } = at(event);
    const zoom = Math.min(40, Math.max(1, state.get("zoom") * Math.exp(-event.deltaY / 400)));
    const share = state.get("zoom") / zoom;
    if (zoom === 1) state.set({ zoom, cx: -1, cy: -1 });
    else state.set({ zoom, cx: x + (view.cx - x) * share, cy: y + (view.cy - y) * share });
  }, () => app.showWheelHint());
  let drag = null;
  canvas.addEventListener("pointerdown", (event) => {
    drag = at(event);
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    const here = at(event);
    app.showCursor(here.x, here.y);
    if (!drag || state.get("zoom") === 1) return;
    state.set({ cx: Math.max(0, here.view.cx + drag.x - here.x), cy: Math.max(0, here.view.cy + drag.y - here.y) });
  });
  canvas.addEventListener("pointerup", () => (drag = null));
  canvas.addEventListener("pointerleave", () => app.showCursor(NaN, NaN));
  canvas.addEventListener("dblclick", () => state.set({ zoom: 1, cx: -1, cy: -1 }));
}
