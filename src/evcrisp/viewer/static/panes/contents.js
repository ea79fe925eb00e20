// Draw the contents of the panes from state and data.

import { layerPalette, palette, rgb, styleColor } from "evcrisp/drawing/colors";
import { cameraOf, drawBox } from "evcrisp/drawing/cloud";
import { drawMap } from "evcrisp/drawing/maps";
import { drawFlow, drawLayers } from "evcrisp/drawing/overlays";
import { describeLayers, hasLayers, isByLayer } from "evcrisp/panes/layers";
import { clipOf, frameSensor, viewOf } from "evcrisp/panes/pane";
import { formatCount, formatDoubts, formatMotion, formatNumber, formatPercent } from "evcrisp/formatting";

/** Drawing options of all panes. */
function lookOf(app, theme) {
  const colors = palette(app.state.get("colors"), theme);
  const look = { size: [app.facts.width, app.facts.height], accumulation: app.state.get("accumulation"), show: "all" };
  for (const [name, color] of Object.entries(colors)) look[name] = rgb(color);
  return look;
}

/** State on which all images depend. */
function common(app, theme) {
  const { state } = app;
  return [theme, ...["colors", "accumulation", "zoom", "cx", "cy"].map((name) => state.get(name))];
}

export function paintPanes(app, theme) {
  const { shown, state } = app;
  const look = lookOf(app, theme);
  const shared = common(app, theme);
  const show = state.get("show");
  const byLayer = isByLayer(state, shown.result);
  const layered = byLayer ? layerLook(app, theme) : {};
  const over = overlaysOf(app);
  const jobs = [
    imageJob(app, "raw", shown.events, look, shared, {}, over),
    imageJob(app, "aligned", shown.result, look, shared, { isAligned: true, byLayer, ...layered }, null),
    imageJob(app, "denoised", shown.result, look, shared, { byLabel: true, show, byLayer, ...layered }, over),
    imageJob(app, "compare", shown.compare, look, shared, { byLabel: true, show }, null),
    cloudJob(app, look, shared, layered),
  ].filter(Boolean);
  app.renderer.draw(jobs);
  for (const job of jobs) job.finish();
  paintMaps(app, theme, shared);
}

/** Colors of layers and of noise among them. */
function layerLook(app, theme) {
  const { noise, colors } = layerPalette(palette(app.state.get("colors"), theme).ground);
  return { byLayer: true, noise: rgb(noise), layers: colors.map(rgb) };
}

/** What is drawn over raw and denoised events: the result with the layers, and the kinds of overlays. */
function overlaysOf(app) {
  const { events, result } = app.shown;
  // While playing, results come a little later than events; boxes of another scene would mislead.
  const isNear = result && events && Math.abs(result.start_us - events.start_us) < events.duration_us;
  if (!isNear || !result.is_good) return null;
  const flow = result.flow ? app.state.get("flow") : "";
  const boxes = app.state.get("boxes") && hasLayers(result);
  return boxes || flow ? { result, boxes, flow } : null;
}

function imageJob(app, name, layer, look, shared, changes, over) {
  const pane = app.panes[name];
  if (!pane.isOutdated(layer, ...shared, changes.show, changes.byLayer, over?.result, over?.boxes, over?.flow)) return null;
  const target = pane.canvas;
  const view = viewOf(target, app.facts, app.state);
  const point = Math.max(1, Math.ceil(view.scale - 1e-6));
  const duration = layer?.duration_us ?? 1;
  return {
    target,
    layer,
    look: { ...look, ...changes, first: layer?.dt_first ?? 0, duration, point, frame: view, view: clipOf(target, view) },
    finish: () => {
      frameSensor(target, app.facts, view, "#8884");
      if (!over) return;
      const { ground } = palette(app.state.get("colors"), app.theme);
      if (over.flow) drawFlow(target, view, over.result, app.facts, over.flow, ground);
      if (over.boxes) drawLayers(target, view, over.result.layers, ground);
    },
  };
}

function cloudJob(app, look, shared, layered) {
  const pane = app.panes.cloud;
  const { state } = app;
  const kind = state.get("cloud");
  const layer = kind === "raw" ? app.shown.events : app.shown.result;
  const turned = ["show", "yaw", "pitch", "distance"].map((name) => state.get(name));
  const byLayer = Boolean(layered.byLayer) && kind !== "raw";
  if (!pane.isOutdated(layer, kind, ...shared, ...turned, byLayer)) return null;
  const target = pane.canvas;
  const camera = cameraOf(target, state);
  const duration = layer?.duration_us ?? state.get("window");
  const line = state.get("colors") === "white-black" ? "#111111" : styleColor("quiet", app.theme);
  return {
    target,
    layer,
    look: {
      ...look,
      ...(byLayer ? layered : {}),
      camera,
      first: layer?.dt_first ?? 0,
      duration,
      byLabel: kind === "labels",
      isAligned: kind === "aligned",
      show: kind === "raw" ? "all" : state.get("show"),
      point: 2.4 * (devicePixelRatio || 1) * Math.max(1, target.height / 400),
    },
    finish: () => drawBox(target, camera, app.facts, duration, line, palette(state.get("colors"), app.theme).ground),
  };
}

function paintMaps(app, theme, shared) {
  const { panes, shown, state, facts } = app;
  const { result } = shown;
  if (panes.contrast.isOutdated(result, state.get("map"), ...shared)) {
    const high = result ? `${formatNumber(result.map_top)} events/px` : "";
    drawMap(panes.contrast.canvas, result?.[`map_${state.get("map")}`], facts, state, theme, { low: "0", high });
  }
  if (panes.confidence.isOutdated(result, ...shared)) {
    drawMap(panes.confidence.canvas, result?.w, facts, state, theme, { low: "0, noise", high: "signal, 1" });
  }
}

function accuracy(result) {
  const parts = [];
  if (result.sensitivity !== undefined) parts.push(`${formatPercent(result.sensitivity)} of the true signal kept`);
  if (result.specificity !== undefined) parts.push(`${formatPercent(result.specificity)} of the true noise removed`);
  return parts.length ? `; ${parts.join(", ")}` : "";
}

function describeLabels(result) {
  if (!result.n_events) return "no events";
  return `keeps ${formatCount(result.n_signal)} of ${formatCount(result.n_events)}, ${formatPercent(result.n_signal / result.n_events)}${accuracy(result)}`;
}

/** Write the line beside each title. */
export function paintInfo(app) {
  const { panes, shown, state } = app;
  const { events, result, compare } = shown;
  if (events) {
    const some = events.step > 1 ? `, 1 of ${events.step} drawn` : "";
    panes.raw.info(`${formatCount(events.n_events)} events${some}`);
  }
  const isStale = (layer) => Boolean(layer && events && (layer.start_us !== events.start_us || layer.duration_us !== events.duration_us));
  for (const name of ["aligned", "denoised", "layers", "contrast", "confidence"]) panes[name].setStale(isStale(result) && !app.isPlaying);
  panes.compare.setStale(isStale(compare) && !app.isPlaying);
  if (result) {
    const motion = hasLayers(result) ? describeLayers(result) : formatMotion(result);
    panes.aligned.info(result.is_good ? `${formatDoubts(result)}${motion}` : `no motion: ${result.status}`, result.is_reliable === false);
    panes.denoised.info(describeLabels(result));
    const { before, [state.get("map")]: now } = result.variance;
    const gain = before > 0 && state.get("map") !== "before" ? `, ${formatNumber(now / before)} × not aligned` : "";
    panes.contrast.info(`variance ${formatNumber(now)}${gain}`);
    panes.confidence.info(result.w_from === "events" ? "mean of events" : "");
  }
  panes.compare.title.textContent = state.get("filter") || "Compared";
  if (compare) panes.compare.info(describeLabels(compare));
}
