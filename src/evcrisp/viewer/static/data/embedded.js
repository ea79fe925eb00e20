// Data that the page holds: some windows, everything computed.

import { readBundle } from "evcrisp/data/bundle";

function nearest(numbers, wanted) {
  return numbers.reduce((best, number) => (Math.abs(number - wanted) < Math.abs(best - wanted) ? number : best));
}

export class EmbeddedSource {
  constructor(settings) {
    this.settings = settings;
    this.isLive = false;
  }

  /** Lengths of the windows that are there, us. */
  get lengths() {
    return [...new Set(this.settings.windows.map((entry) => entry.length_us))];
  }

  snapLength(length) {
    return nearest(this.lengths, length);
  }

  /** Start of the window that is there and nearest. */
  snap(t) {
    return nearest(this.settings.windows.map((entry) => entry.start_us), t);
  }

  /** Start of the next window, or of the one before. */
  neighbor(t, step) {
    const starts = this.settings.windows.map((entry) => entry.start_us);
    const index = starts.indexOf(this.snap(t)) + step;
    return starts[Math.max(0, Math.min(index, starts.length - 1))];
  }

  async facts() {
    return this.settings.facts;
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
    const blob = document.getElementById(entry?.[name] ?? "");
    if (!blob) throw new Error("This page does not hold that. Open the recording with `evcrisp view`.");
    const packed = Uint8Array.from(atob(blob.textContent), (character) => character.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return readBundle(await new Response(stream).arrayBuffer());
  }
}
