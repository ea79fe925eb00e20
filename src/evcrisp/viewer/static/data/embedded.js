// Data of an exported page: some windows with all results.

import { readBundle } from "evcrisp/data/bundle";

function nearest(numbers, wanted) {
  return numbers.reduce((best, number) => (Math.abs(number - wanted) < Math.abs(best - wanted) ? number : best));
}

export class EmbeddedSource {
  constructor(settings) {
    this.settings = settings;
    this.isLive = false;
  }

  /** Available window durations, us. */
  get durations() {
    return [...new Set(this.settings.windows.map((entry) => entry.duration_us))];
  }

  snapDuration(duration) {
    return nearest(this.durations, duration);
  }

  /** Duration of the nearest available window, us. */
  durationAt(t) {
    const start = this.snap(t);
    return this.settings.windows.find((entry) => entry.start_us === start).duration_us;
  }

  /** Start of the nearest available window. */
  snap(t) {
    return nearest(this.settings.windows.map((entry) => entry.start_us), t);
  }

  /** Start of the window `step` windows later. */
  neighbor(t, step) {
    const starts = this.settings.windows.map((entry) => entry.start_us);
    const index = starts.indexOf(this.snap(t)) + step;
    return starts[Math.max(0, Math.min(index, starts.length - 1))];
  }

  async facts() {
    return this.settings.facts;
  }

  async sensors() {
    return this.unpack(this.settings.sensors);
  }

  async frame(index, start) {
    return this.read(start, "frame");
  }

  async events(start) {
    return this.read(start, "events");
  }

  async compute(request) {
    const labels = { estimate: request.method, filter: request.filter, front: "front", point: request.index };
    return this.read(request.start_us, `${request.kind}:${labels[request.kind]}`);
  }

  async read(start, name) {
    const entry = this.settings.windows.find((window) => window.start_us === start);
    return this.unpack(entry?.[name]);
  }

  async unpack(id) {
    const blob = document.getElementById(id ?? "");
    if (!blob) throw new Error("This page does not contain that result. Open the recording with `evcrisp view`.");
    const packed = Uint8Array.from(atob(blob.textContent), (character) => character.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return readBundle(await new Response(stream).arrayBuffer());
  }
}
