// State of the view as plain values in the address, so that a copied link shows the same view.

const KINDS = {
  t: "number", // start of the window, us since the first event
  window: "number", // us
  auto: "flag", // whether the events choose the length of windows
  method: "text",
  motion: "text",
  filter: "text", // "" for none
  method_options: "text", // parameters that differ from their defaults, as JSON
  filter_options: "text",
  layout: "text", // "auto", "grid", "large" or "images"
  main: "text", // large pane of the layout "large"
  hidden: "text", // names of hidden panes, with commas
  accumulation: "text",
  colors: "text",
  show: "text",
  by: "text", // colors of events: "auto", "label" or "layer"
  boxes: "flag", // of layers
  flow: "text", // "", "arrows" or "colors"
  map: "text",
  cloud: "text",
  front: "flag",
  points: "number",
  point: "number", // of the front; -1 for the method's own result
  theme: "text", // "", "light" or "dark"
  speed: "number", // seconds of the recording per second
  large: "text", // pane that fills the page
  zoom: "number",
  cx: "number", // center of the images, px of the sensor; -1 for the center of the sensor
  cy: "number",
  yaw: "number",
  pitch: "number",
  distance: "number",
  draw: "text", // "webgl", "processor", or "" for the faster renderer
};

const DEFAULTS = {
  t: 0,
  window: 30000,
  auto: false,
  method: "auto",
  motion: "auto",
  filter: "",
  method_options: "",
  filter_options: "",
  layout: "auto",
  main: "aligned",
  hidden: "",
  accumulation: "latest",
  colors: "red-blue",
  show: "all",
  by: "auto",
  boxes: true,
  flow: "",
  map: "kept",
  cloud: "labels",
  front: false,
  points: 13,
  point: -1,
  theme: "",
  speed: 0.1,
  large: "",
  zoom: 1,
  cx: -1,
  cy: -1,
  yaw: 0.65,
  pitch: 0.35,
  distance: 2.1,
  draw: "",
};

/** Numbers are clamped to these ranges. */
const RANGES = {
  window: [10, 1e7],
  points: [3, 41],
  zoom: [1, 40],
  distance: [0.8, 8],
  speed: [1e-6, 1e3],
};

const WHOLE = ["t", "window", "points", "point"];

/** Allowed texts of each name, if limited. */
function allowedTexts({ methods, motions, filters }) {
  const texts = { method: methods, motion: motions, filter: ["", ...filters], theme: ["", "light", "dark"] };
  for (const id of ["layout", "accumulation", "colors", "show", "by", "flow", "map", "cloud"]) {
    texts[id] = [...document.getElementById(id).options].map((option) => option.value);
  }
  return texts;
}

/** Whether the address can hold the state; inside a report it cannot. */
export const hasAddress = !["about:", "blob:", "data:"].includes(location.protocol);

export class State {
  constructor(start, choices) {
    this.start = { ...DEFAULTS, ...start };
    this.texts = allowedTexts(choices);
    this.values = this.read();
    this.home = { yaw: this.start.yaw, pitch: this.start.pitch }; // first view of the cloud
    this.listeners = [];
    this.timer = 0;
    addEventListener("hashchange", () => this.set(this.read()));
  }

  /** State in the address; invalid values are replaced by the initial ones. */
  read() {
    const given = parse(location.hash, this.texts);
    if ("window" in given && !("auto" in given)) given.auto = false;
    return { ...this.start, ...given };
  }

  get(name) {
    return this.values[name];
  }

  /** Set values, and call the listeners with the names that have changed. */
  set(changes) {
    const changed = Object.keys(changes).filter((name) => changes[name] !== this.values[name]);
    if (!changed.length) return;
    Object.assign(this.values, changes);
    clearTimeout(this.timer);
    if (hasAddress) this.timer = setTimeout(() => history.replaceState(null, "", this.hash()), 120);
    for (const listener of this.listeners) listener(new Set(changed));
  }

  onChange(listener) {
    this.listeners.push(listener);
  }

  /** Part of the address after #: values that differ from the initial ones. */
  hash() {
    const parts = [];
    for (const [name, value] of Object.entries(this.values)) {
      if (value === this.start[name] || !(name in KINDS)) continue;
      if (name === "window" && this.values.auto) continue;
      const text = typeof value === "number" ? String(Number(value.toPrecision(12))) : String(value);
      parts.push(`${name}=${encodeURIComponent(text)}`);
    }
    return `#${parts.join("&")}`;
  }
}

function parse(hash, texts) {
  const values = {};
  for (const [name, text] of new URLSearchParams(hash.slice(1))) {
    if (KINDS[name] === "number" && Number.isFinite(Number(text))) {
      const [low, high] = RANGES[name] ?? [-Infinity, Infinity];
      const number = WHOLE.includes(name) ? Math.round(Number(text)) : Number(text);
      values[name] = Math.min(high, Math.max(low, number));
    }
    if (KINDS[name] === "flag") values[name] = text === "true";
    if (KINDS[name] === "text" && (texts[name]?.includes(text) ?? true)) values[name] = text;
  }
  return values;
}
