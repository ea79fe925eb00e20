// Show live events: fetch a frame, draw it, and fetch the next one.

import { parseFrame } from "./frame.js";
import { drawCurve, drawPicture } from "./drawing.js";

const RETRY_MS = 1000;
const LONG_MS = 1000; // over which frames are counted
const byId = (id) => document.getElementById(id);

const times = []; // of the last frames, ms
window.liveStats = { frames: 0, fps: 0, newest: null }; // read by tests

function short(value, unit = "") {
  if (value === null || value === undefined) return "–";
  const steps = [[1e9, "G"], [1e6, "M"], [1e3, "k"]];
  for (const [size, letter] of steps) {
    if (value >= size) return `${(value / size).toFixed(1)} ${letter}${unit}`;
  }
  if (value === 0) return `0 ${unit}`.trim();
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${unit}`.trim();
}

function duration(ms) {
  return ms >= 1000 ? `${(ms / 1000).toFixed(1)} s` : short(ms, "ms");
}

function last(values) {
  return values && values.length ? values[values.length - 1] : null;
}

function showCounts(counts) {
  const rows = {
    source: counts.source,
    method: counts.method,
    events: counts.n_events?.toLocaleString("en"),
    kept: counts.n_labeled ? `${((100 * counts.n_kept) / counts.n_labeled).toFixed(1)} %` : "–",
    windows: counts.n_windows?.toLocaleString("en"),
    "motion reused": counts.n_reused?.toLocaleString("en"),
    "damaged packets": counts.n_damaged?.toLocaleString("en"),
    reconnections: counts.n_reconnects?.toLocaleString("en"),
  };
  byId("counts").replaceChildren(
    ...Object.entries(rows).flatMap(([name, value]) => {
      const term = document.createElement("dt");
      const text = document.createElement("dd");
      term.textContent = name;
      text.textContent = value ?? "–";
      return [term, text];
    }),
  );
}

function show(head, pictures) {
  const { curves, counts } = head;
  ["raw", "aligned", "denoised"].forEach((name, k) => {
    if (pictures[k]) drawPicture(byId(name), pictures[k], head.shape);
  });
  if (head.resolution) {
    byId("raw-info").textContent = `${head.n_raw.toLocaleString("en")} events, ${head.resolution.join("×")} px`;
    byId("denoised-info").textContent = `${head.n_kept.toLocaleString("en")} events`;
    const info = byId("aligned-info");
    info.textContent = head.is_aligned ? head.motion : "not aligned: a filter finds no motion";
    info.title = info.textContent; // long ones are cut
    info.classList.toggle("is-doubtful", Boolean(head.is_doubtful));
  }
  byId("rate").textContent = short(last(curves.events_s), "/s");
  byId("latency").textContent = duration(last(curves.latency_ms));
  byId("drops").textContent = counts.n_dropped?.toLocaleString("en") ?? "–";
  byId("drops").classList.toggle("is-bad", (last(curves.dropped_s) ?? 0) > 0);
  const rate = (value) => short(value, "/s");
  drawCurve(byId("rate-curve"), curves.age_s, [curves.events_s, curves.kept_s], ["all", "kept"], rate);
  drawCurve(byId("latency-curve"), curves.age_s, [curves.latency_ms], ["all"], duration);
  drawCurve(byId("drops-curve"), curves.age_s, [curves.dropped_s], ["all"], rate);
  if (counts.source) showCounts(counts);
}

function countFrame() {
  const now = performance.now();
  times.push(now);
  while (times[0] < now - LONG_MS) times.shift();
  window.liveStats.frames += 1;
  window.liveStats.fps = times.length;
}

function stateText(head) {
  if (head.is_ended) return "The session has ended.";
  if (head.resolution) return `${window.liveStats.fps} frames/s`;
  return "Waiting for events… The first start compiles kernels, which can take minutes.";
}

/** The page has the colors that the system asks for, as the viewer has. */
function followTheme() {
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const apply = () => (document.documentElement.dataset.theme = dark.matches ? "dark" : "light");
  dark.addEventListener("change", apply);
  apply();
}

followTheme();

async function run() {
  let version = 0;
  for (;;) {
    try {
      const answer = await fetch(`./api/frame?after=${version}`);
      if (!answer.ok) throw new Error(`status ${answer.status}`);
      const { head, pictures } = parseFrame(await answer.arrayBuffer());
      ({ version } = head);
      await new Promise(requestAnimationFrame);
      show(head, pictures);
      countFrame();
      window.liveStats.newest = head;
      byId("state").textContent = stateText(head);
      if (head.is_ended) return;
    } catch (error) {
      byId("state").textContent = "The program has ended, or cannot be reached.";
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}

run();
