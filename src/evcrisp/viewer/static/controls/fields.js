// Form fields that show and change the state.

import { layerPalette, palette } from "evcrisp/drawing/colors";
import { hasAddress } from "evcrisp/controls/state";
import { isByLayer } from "evcrisp/panes/layers";

export const SPEEDS = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10];

const SELECTS = ["method", "motion", "filter", "accumulation", "colors", "show", "by", "flow", "map", "cloud", "speed"];
/** The list of layers has all of them. */
const MAX_IN_LEGEND = 5;
const byId = (id) => document.getElementById(id);

function fill(select, entries) {
  select.replaceChildren(...entries.map(([value, text]) => new Option(text, value)));
  select.disabled = entries.length < 2;
}

export function attachControls(app) {
  const { state, settings } = app;
  const { methods, motions, filters } = settings.choices;
  fill(byId("method"), methods.map((name) => [name, name]));
  fill(byId("motion"), motions.map((name) => [name, name]));
  fill(byId("filter"), [["", "none"], ...filters.map((name) => [name, name])]);
  fill(byId("speed"), SPEEDS.map((speed) => [String(speed), `${speed} ×`]));
  for (const id of SELECTS) {
    byId(id).addEventListener("change", (event) => {
      const value = event.target.value;
      state.set({ [id]: id === "speed" ? Number(value) : value });
      event.target.blur();
    });
  }
  byId("window").addEventListener("change", (event) => app.setWindow(1000 * Number(event.target.value)));
  byId("window").disabled = !app.source.isLive;
  byId("auto").addEventListener("click", () => app.switchAuto());
  byId("auto").hidden = !app.source.isLive;
  byId("scrubber").addEventListener("input", (event) => app.goTo(Number(event.target.value)));
  byId("play").addEventListener("click", () => app.play(!app.isPlaying));
  byId("back").addEventListener("click", () => app.step(-1));
  byId("forward").addEventListener("click", () => app.step(1));
  byId("front").addEventListener("click", () => state.set({ front: !state.get("front") }));
  byId("boxes").addEventListener("click", () => state.set({ boxes: !state.get("boxes") }));
  byId("track").addEventListener("click", () => app.trackAll());
  byId("track").hidden = !app.source.isLive;
  byId("cancel").addEventListener("click", () => app.cancel());
  byId("theme").addEventListener("click", () => app.switchTheme());
  byId("help-button").addEventListener("click", () => app.help());
  byId("copy").addEventListener("click", () => app.copyLink());
  byId("copy").hidden = !hasAddress;
  for (const pane of document.querySelectorAll(".pane")) {
    pane.querySelector("h2").addEventListener("dblclick", () => app.enlarge(pane.dataset.pane));
  }
}

/** Show the state in the fields. */
export function showControls(app, theme) {
  const { state, facts } = app;
  for (const id of SELECTS) {
    if (byId(id).value !== String(state.get(id))) byId(id).value = String(state.get(id));
  }
  const field = byId("window");
  const duration = String(Number((state.get("window") / 1000).toPrecision(6)));
  if (document.activeElement !== field && field.value !== duration) field.value = duration;
  const scrubber = byId("scrubber");
  const last = String(app.isAuto ? facts.windows.at(-1)[0] : Math.max(0, facts.duration_us - state.get("window")));
  if (scrubber.max !== last) scrubber.max = last;
  if (scrubber.value !== String(state.get("t"))) scrubber.value = String(state.get("t"));
  for (const id of ["front", "boxes", "auto"]) byId(id).setAttribute("aria-pressed", String(state.get(id)));
  const play = byId("play");
  const label = app.isPlaying ? "Pause" : "Play";
  if (play.getAttribute("aria-label") !== label) {
    play.textContent = app.isPlaying ? "❚❚" : "▶";
    play.setAttribute("aria-label", label);
  }
  showLegend(legendOf(app, theme));
}

/** Texts and colors of the legend: with layers, their numbers instead of signal and noise. */
function legendOf({ state, shown }, theme) {
  const colors = palette(state.get("colors"), theme);
  const polarities = [["ON", colors.on], ["OFF", colors.off]];
  if (!isByLayer(state, shown.result)) return [...polarities, ["signal", colors.signal], ["noise", colors.noise]];
  const layers = layerPalette(colors.ground);
  const { layers: found } = shown.result;
  const numbers = found.slice(0, MAX_IN_LEGEND).map(({ id, slot }, k) => [k ? String(id) : `layer ${id}`, layers.colors[slot]]);
  return [...polarities, ...numbers, ["noise", layers.noise]];
}

function showLegend(entries) {
  const legend = byId("legend");
  const key = JSON.stringify(entries);
  if (legend.dataset.key === key) return;
  legend.dataset.key = key;
  legend.replaceChildren(...entries.map(([text, color]) => {
    const chip = Object.assign(document.createElement("span"), { textContent: text });
    chip.style.setProperty("--chip", color);
    return chip;
  }));
}
