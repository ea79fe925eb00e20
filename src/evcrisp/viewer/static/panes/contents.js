// What stands on each pane, from the state and the data at hand.

import { ink, palette, rgb } from "evcrisp/drawing/colors";
import { cameraOf, drawBox } from "evcrisp/drawing/cloud";
import { drawMap } from "evcrisp/drawing/maps";
import { clipOf, frameSensor, viewOf } from "evcrisp/panes/pane";
import { count, motion, number, percent } from "evcrisp/formatting";

/** Colors and ways of drawing that all panes share. */
function lookOf(app, theme) {
  const colors = palette(app.state.get("colors"), theme);
  const look = { size: [app.facts.width, app.facts.height], accumulation: app.state.get("accumulation"), show: "all" };
  for (const [name, color] of Object.entries(colors)) look[name] = rgb(color);
  return look;
}

/** What all images depend on. */
function common(app, theme) {
  const { state } = app;
  return [theme, ...["colors", "accumulation", "zoom", "cx", "cy"].map((name) => state.get(name))];
}

export function paintPanes(app, theme) {
  const { shown, state } = app;
  const look = lookOf(app, theme);
  const shared = common(app, theme);
  const show = state.get("show");
  const jobs = [
    imageJob(app, "raw", shown.events, look, shared, {}),
    imageJob(app, "aligned", shown.result, look, shared, { isAligned: true }),
    imageJob(app, "denoised", shown.result, look, shared, { byLabel: true, show }),
    imageJob(app, "compare", shown.compare, look, shared, { byLabel: true, show }),
    cloudJob(app, look, shared),
  ].filter(Boolean);
  app.renderer.draw(jobs);
  for (const job of jobs) job.finish();
  paintMaps(app, theme, shared);
}

function imageJob(app, name, layer, look, shared, changes) {
  const pane = app.panes[name];
  if (!pane.isOutdated(layer, ...shared, changes.show)) return null;
  const target = pane.canvas;
  const view = viewOf(target, app.facts, app.state);
  const point = Math.max(1, Math.ceil(view.scale - 1e-6));
  const length = layer?.length_us ?? 1;
  return {
    target,
    layer,
    look: { ...look, ...changes, first: layer?.dt_first ?? 0, length, point, frame: view, view: clipOf(target, view) },
    finish: () => frameSensor(target, app.facts, view, "#8884"),
  };
}

function cloudJob(app, look, shared) {
  const pane = app.panes.cloud;
  const { state } = app;
  const kind = state.get("cloud");
  const layer = kind === "raw" ? app.shown.events : app.shown.result;
  const turned = ["show", "yaw", "pitch", "distance"].map((name) => state.get(name));
  if (!pane.isOutdated(layer, kind, ...shared, ...turned)) return null;
  const target = pane.canvas;
  const camera = cameraOf(target, state);
  const length = layer?.length_us ?? state.get("window");
  const line = state.get("colors") === "white-black" ? "#111111" : ink("quiet", app.theme);
  return {
    target,
    layer,
    look: {
      ...look,
      camera,
      first: layer?.dt_first ?? 0,
      length,
      byLabel: kind === "labels",
      isAligned: kind === "aligned",
      show: kind === "raw" ? "all" : state.get("show"),
      point: 2.4 * (devicePixelRatio || 1) * Math.max(1, target.height / 400),
    },
    finish: () => drawBox(target, camera, app.facts, length, line, palette(state.get("colors"), app.theme).ground),
  };
}

function paintMaps(app, theme, shared) {
  const { panes, shown, state, facts } = app;
  const { result } = shown;
  if (panes.contrast.isOutdated(result, state.get("map"), ...shared)) {
    const high = result ? `${number(result.map_top)} events/px` : "";
    drawMap(panes.contrast.canvas, result?.[`map_${state.get("map")}`], facts, state, theme, { low: "0", high });
  }
  if (panes.confidence.isOutdated(result, ...shared)) {
    drawMap(panes.confidence.canvas, result?.w, facts, state, theme, { low: "0, noise", high: "signal, 1" });
  }
}

function rightness(result) {
  const parts = [];
  if (result.sensitivity !== undefined) parts.push(`${percent(result.sensitivity)} of the true signal kept`);
  if (result.specificity !== undefined) parts.push(`${percent(result.specificity)} of the true noise removed`);
  return parts.length ? `; ${parts.join(", ")}` : "";
}

function kept(result) {
  if (!result.n_events) return "no events";
  return `keeps ${count(result.n_signal)} of ${count(result.n_events)}, ${percent(result.n_signal / result.n_events)}${rightness(result)}`;
}

/** The line beside each title. */
export function paintInfo(app) {
  const { panes, shown, state } = app;
  const { events, result, compare } = shown;
  if (events) {
    const some = events.stride > 1 ? `, 1 of ${events.stride} drawn` : "";
    panes.raw.info(`${count(events.n_events)} events${some}`);
  }
  const isStale = (layer) => Boolean(layer && events && (layer.start_us !== events.start_us || layer.length_us !== events.length_us));
  for (const name of ["aligned", "denoised", "contrast", "confidence"]) panes[name].stale(isStale(result) && !app.isPlaying);
  panes.compare.stale(isStale(compare) && !app.isPlaying);
  if (result) {
    panes.aligned.info(result.is_good ? motion(result) : `no motion: ${result.status}`);
    panes.denoised.info(kept(result));
    const { before, [state.get("map")]: now } = result.variance;
    const gain = before > 0 && state.get("map") !== "before" ? `, ${number(now / before)} × not aligned` : "";
    panes.contrast.info(`variance ${number(now)}${gain}`);
    panes.confidence.info(result.w_from === "events" ? "mean of the events" : "");
  }
  panes.compare.title.textContent = state.get("filter") || "Compared";
  if (compare) panes.compare.info(kept(compare));
}
