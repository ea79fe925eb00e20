// Form fields that show and change the state.

import { layerPalette, palette } from "evcrisp/drawing/colors";
import { hasAddress } from "evcrisp/controls/state";
import { isByLayer } from "evcrisp/panes/layers";

export const SPEEDS = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10];

/** Durations of windows that are accepted, ms. */
const [SHORTEST_MS, LONGEST_MS] = [0.01, 10_000];

const SELECTS = ["layout", "method", "motion", "filter", "accumulation", "colors", "show", "by", "flow", "map", "cloud", "speed"];
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
  attachWindowField(app);
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
  byId("save-picture").addEventListener("click", () => app.savePicture(""));
  byId("save-events").addEventListener("click", () => app.saveEvents("save"));
  byId("save-filtered").addEventListener("click", () => app.saveEvents("save_filtered"));
  for (const id of ["save-events", "save-filtered"]) byId(id).hidden = !app.source.isLive;
  for (const menu of document.querySelectorAll(".menu")) {
    document.addEventListener("click", (event) => {
      const isOutside = !menu.contains(event.target);
      if (isOutside || event.target.matches("#save-menu button")) menu.open = false;
    });
  }
}

/** Enter applies a duration and leaves the field; a bad one is marked, and stays until it is corrected or left. */
function attachWindowField(app) {
  const field = byId("window");
  const mark = (isBad) => {
    field.classList.toggle("is-bad", isBad);
    field.setAttribute("aria-invalid", String(isBad));
  };
  const apply = () => {
    const value = field.value.trim() === "" ? NaN : Number(field.value);
    const isBad = !(value >= SHORTEST_MS && value <= LONGEST_MS);
    mark(isBad);
    if (isBad) app.fail(new Error(`The window must have ${SHORTEST_MS} to ${LONGEST_MS.toLocaleString("en-US")} ms; got ${field.value || "no number"}.`));
    else app.setWindow(1000 * value);
    return !isBad;
  };
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && apply()) field.blur();
    if (event.key === "Escape") field.blur();
  });
  field.addEventListener("input", () => mark(false));
  field.addEventListener("change", apply);
  field.addEventListener("blur", () => {
    mark(false); // the duration in use comes back
    app.paint();
  });
}

/** Show the state in the fields. */
export function showControls(app, theme) {
  const { state, facts } = app;
  for (const id of SELECTS) {
    if (byId(id).value !== String(state.get(id))) byId(id).value = String(state.get(id));
  }
  const field = byId("window");
  const duration = String(Number((state.get("window") / 1000).toPrecision(4)));
  if (document.activeElement !== field && field.value !== duration) field.value = duration;
  const scrubber = byId("scrubber");
  const last = String(app.isAuto ? facts.windows.at(-1)[0] : Math.max(0, facts.duration_us - state.get("window")));
  if (scrubber.max !== last) scrubber.max = last;
  if (scrubber.value !== String(state.get("t"))) scrubber.value = String(state.get("t"));
  byId("save-filtered").hidden = !app.source.isLive || !state.get("filter");
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
