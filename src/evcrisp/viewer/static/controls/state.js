// What is shown, as plain values that fit into the address: a copied link shows the same view.

const KINDS = {
  t: "number", // start of the window, us since the first event
  window: "number", // us
  method: "text",
  motion: "text",
  filter: "text", // "" for none
  accumulation: "text",
  colors: "text",
  show: "text",
  map: "text",
  cloud: "text",
  front: "flag",
  points: "number",
  point: "number", // of the front; -1 for the method's own result
  theme: "text", // "", "light" or "dark"
  speed: "number", // seconds of the recording per second
  large: "text", // pane that fills the page
  zoom: "number",
  cx: "number", // middle of the images, px of the sensor; -1 for the sensor's
  cy: "number",
  yaw: "number",
  pitch: "number",
  distance: "number",
  draw: "text", // "webgl", "processor", or "" for the faster one
};

const DEFAULTS = {
  t: 0,
  window: 30000,
  method: "auto",
  motion: "translation",
  filter: "",
  accumulation: "latest",
  colors: "red-blue",
  show: "all",
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

/** Numbers beyond these are cut. */
const RANGES = {
  window: [10, 1e7],
  points: [3, 41],
  zoom: [1, 40],
  distance: [0.8, 8],
  speed: [1e-6, 1e3],
};

const WHOLE = ["t", "window", "points", "point"];

/** Words that each name may have, where they are known. */
function knownWords({ methods, motions, filters }) {
  const words = { method: methods, motion: motions, filter: ["", ...filters], theme: ["", "light", "dark"] };
  for (const id of ["accumulation", "colors", "show", "map", "cloud"]) {
    words[id] = [...document.getElementById(id).options].map((option) => option.value);
  }
  return words;
}

/** Whether the page has an address that can hold the view; within a report it has none. */
export const hasAddress = !["about:", "blob:", "data:"].includes(location.protocol);

export class State {
  constructor(start, choices) {
    this.start = { ...DEFAULTS, ...start };
    this.words = knownWords(choices);
    this.values = this.read();
    this.listeners = [];
    this.timer = 0;
    addEventListener("hashchange", () => this.set(this.read()));
  }

  /** What the address says; what cannot be is left as at the start. */
  read() {
    return { ...this.start, ...parse(location.hash, this.words) };
  }

  get(name) {
    return this.values[name];
  }

  /** Set values and tell which have changed. */
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

  /** The part of the address after #: what differs from the start. */
  hash() {
    const parts = [];
    for (const [name, value] of Object.entries(this.values)) {
      if (value === this.start[name] || !(name in KINDS)) continue;
      const text = typeof value === "number" ? String(Number(value.toPrecision(12))) : String(value);
      parts.push(`${name}=${encodeURIComponent(text)}`);
    }
    return `#${parts.join("&")}`;
  }
}

function parse(hash, words) {
  const values = {};
  for (const [name, text] of new URLSearchParams(hash.slice(1))) {
    if (KINDS[name] === "number" && Number.isFinite(Number(text))) {
      const [low, high] = RANGES[name] ?? [-Infinity, Infinity];
      const number = WHOLE.includes(name) ? Math.round(Number(text)) : Number(text);
      values[name] = Math.min(high, Math.max(low, number));
    }
    if (KINDS[name] === "flag") values[name] = text === "true";
    if (KINDS[name] === "text" && (words[name]?.includes(text) ?? true)) values[name] = text;
  }
  return values;
}
