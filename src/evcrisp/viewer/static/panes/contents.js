// Draw the contents of the panes from state and data.

import { layerPalette, palette, rgb, styleColor } from "evcrisp/drawing/colors";
import { cameraOf, drawBox } from "evcrisp/drawing/cloud";
import { colorBar, drawMap } from "evcrisp/drawing/maps";
import { drawFlow, drawLayers, drawMotionArrow, flowKey, topSpeed } from "evcrisp/drawing/overlays";
import { paintFrame } from "evcrisp/panes/frame";
import { describeLayers, hasLayers, isByLayer } from "evcrisp/panes/layers";
import { clipOf, frameSensor, viewOf } from "evcrisp/panes/pane";
import { formatCount, formatDoubts, formatDuration, formatMotion, formatNumber, formatPercent } from "evcrisp/formatting";

/** Opacity of an event with the accumulation "density", and the least one in a picture that is scaled down. */
const [DENSITY_ALPHA, LEAST_ALPHA] = [0.3, 0.2];
/** Share of a pane that a cloud covers, and the least opacity of its events. */
const [CLOUD_SHARE, LEAST_CLOUD_ALPHA] = [0.4, 0.06];
/** Overlays would hide the events of smaller panes. */
const LEAST_OVERLAY_PX = 110;
/** Calibration of a rotation. */
const LENS = { "calib.txt": "; lens of calib.txt", ideal: "; ⚠ lens assumed, 60° view" };
/** Below this scale, several pixels of the sensor share one of the screen, and their events are blended. */
const BLEND_BELOW = 0.75;

/** Opacity of an event: a picture that is scaled down shows the density, so that no event is lost. */
export function opacityOf(accumulation, scale) {
  if (accumulation === "density") return DENSITY_ALPHA;
  return accumulation === "fade" || scale > BLEND_BELOW ? 1 : Math.max(LEAST_ALPHA, scale);
}

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
  paintKeys(app, theme, over);
  if (app.sensors.hasFrames) paintFrame(app, palette(state.get("colors"), theme).ground);
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
    look: { ...look, ...changes, alpha: opacityOf(look.accumulation, view.scale), first: layer?.dt_first ?? 0, duration, point, frame: view, view: clipOf(target, view) },
    finish: () => {
      frameSensor(target, app.facts, view, "#8884");
      if (!over || target.clientHeight < LEAST_OVERLAY_PX) return;
      const { ground } = palette(app.state.get("colors"), app.theme);
      if (over.flow === "motion") drawMotion(app, target, view, over.result, ground);
      else if (over.flow) drawFlow(target, view, over.result, app.facts, over.flow, ground);
      if (over.boxes) drawLayers(target, view, over.result.layers, ground);
    },
  };
}

/** Arrow of a single motion; several layers have arrows in their boxes. */
function drawMotion(app, target, view, result, ground) {
  if (hasLayers(result) || !result.layers.length) return;
  const color = result.is_reliable === false ? styleColor("doubt", app.theme) : styleColor("accent", app.theme);
  drawMotionArrow(target, view, result.layers[0].velocity, app.facts, color, ground);
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
  const duration = app.trueDuration(layer);
  const camera = cameraOf(target, state, app.facts);
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
      alpha: cloudOpacity(look.accumulation, layer, target),
      byLabel: kind === "labels",
      isAligned: kind === "aligned",
      show: kind === "raw" ? "all" : state.get("show"),
      point: 3.4 * Math.max(devicePixelRatio || 1, target.height / 200),
    },
    finish: () => drawBox(target, camera, app.facts, duration, line, palette(state.get("colors"), app.theme).ground),
  };
}

/** Opacity of an event of the cloud: where several share a pixel, they are blended, so that dense parts show. */
function cloudOpacity(accumulation, layer, target) {
  if (accumulation === "density") return DENSITY_ALPHA;
  const perPixel = (layer?.pixels.length ?? 0) / (CLOUD_SHARE * target.width * target.height);
  return accumulation === "fade" || perPixel <= 1 ? 1 : Math.max(LEAST_CLOUD_ALPHA, 1 / perPixel);
}

function paintMaps(app, theme, shared) {
  const { panes, shown, state, facts } = app;
  const { result } = shown;
  if (panes.contrast.isOutdated(result, state.get("map"), ...shared)) {
    drawMap(panes.contrast.canvas, result?.[`map_${state.get("map")}`], facts, state, theme, result?.map_factor);
  }
  if (panes.confidence.isOutdated(result, ...shared)) {
    drawMap(panes.confidence.canvas, result?.w, facts, state, theme, result?.map_factor);
  }
}

/** Lines below the pictures: color bars, the arrow of the motion, and the key of the flow. */
function paintKeys(app, theme, over) {
  const { panes } = app;
  const { result } = app.shown;
  const high = result ? `${formatNumber(result.map_top)} events/px` : "";
  panes.contrast.key(result ? `${theme} ${high}` : "", `0 to ${high}`, () => colorBar(theme, "0", high));
  panes.confidence.key(result ? theme : "", "0 noise, 1 signal", () => colorBar(theme, "noise 0", "1 signal"));
  const flow = over?.flow && over.flow !== "motion" ? over.flow : "";
  const top = flow ? topSpeed(over.result.flow) : 0;
  for (const name of ["raw", "denoised"]) panes[name].key(top > 0 ? `${flow} ${top}` : "", "", () => flowKey(flow, top));
  paintArrow(panes.aligned, result);
}

/** Direction and speed of a single motion below the aligned events. */
function paintArrow(pane, result) {
  const isOne = result?.is_good && result.layers?.length === 1;
  const [x, y] = isOne ? result.layers[0].velocity : [0, 0];
  const speed = Math.hypot(x, y);
  const mark = result?.is_reliable === false ? "⚠ " : "";
  const text = `${mark}${formatNumber(speed)} px/s`;
  pane.key(speed > 0 ? `${x} ${y} ${mark}` : "", text, () => {
    const arrow = Object.assign(document.createElement("i"), { className: "arrow", textContent: "➜" });
    arrow.style.setProperty("transform", `rotate(${Math.atan2(y, x)}rad)`);
    return [arrow, text];
  });
  pane.keyElement.classList.toggle("is-doubtful", Boolean(mark));
}

function accuracy(result) {
  const parts = [];
  if (result.sensitivity !== undefined) parts.push(`${formatPercent(result.sensitivity)} of true signal`);
  if (result.specificity !== undefined) parts.push(`${formatPercent(1 - result.specificity)} of true noise`);
  return parts.length ? `: ${parts.join(", ")}` : "";
}

function describeLabels(result) {
  if (!result.n_events) return "no events";
  return `keeps ${formatCount(result.n_signal)} of ${formatCount(result.n_events)}, ${formatPercent(result.n_signal / result.n_events)}${accuracy(result)}`;
}

/** Whether a layer belongs to another window or to other settings than those that are chosen. */
function isStale(app, layer, wanted) {
  const { events } = app.shown;
  if (!layer || !events) return false;
  if (modelOf(layer.request) !== modelOf(wanted)) return true;
  // While playing, results come a little later than events.
  return !app.isPlaying && (layer.start_us !== events.start_us || layer.duration_us !== events.duration_us);
}

/** Settings of a request other than the time. */
function modelOf(request) {
  const { start_us: start, duration_us: duration, ...rest } = request ?? {};
  return JSON.stringify(rest);
}

/** Contrast of the chosen map, and its gain; alignment that gains nothing is marked. */
function describeContrast(result, name) {
  const { before, [name]: now } = result.variance;
  const text = `variance ${formatNumber(now)}`;
  if (!(before > 0) || name === "before") return [text, false];
  const gain = now / before;
  if (name === "after" && gain < 1) return [`⚠ alignment gains no contrast: ${text}, not aligned ${formatNumber(before)}`, true];
  return [`${text}, ${formatNumber(gain)} × not aligned`, false];
}

/** Whether the velocity of a single motion differs from place to place. */
function isExpanded(result) {
  return !hasLayers(result) && result.names.length > 2 && result.names.includes("vx");
}

/** Write the line below each title. */
export function paintInfo(app) {
  const { panes, shown, state } = app;
  const { events, result, compare } = shown;
  if (events) {
    const some = events.step > 1 ? `, 1 of ${events.step} drawn` : "";
    panes.raw.info(`${formatCount(events.n_events)} events in ${formatDuration(app.trueDuration(events))}${some}`);
  }
  const isOld = isStale(app, result, app.wanted.result);
  for (const name of ["aligned", "denoised", "layers", "contrast", "confidence"]) panes[name].setStale(isOld);
  panes.compare.setStale(isStale(app, compare, app.wanted.compare));
  panes.front.setStale(Boolean(app.front.data) && modelOf(app.front.request) !== modelOf(app.wanted.front));
  if (result) {
    const isIdeal = result.lens === "ideal";
    const isDoubtful = isIdeal || result.is_reliable === false || Boolean(result.layers?.some(({ doubts }) => doubts?.length));
    const motion = `${hasLayers(result) ? describeLayers(result) : formatMotion(result)}${LENS[result.lens] ?? ""}`;
    const text = result.is_good ? `${formatDoubts(result)}${motion}` : `⚠ no motion: ${result.status}`;
    panes.aligned.info(text, isDoubtful || !result.is_good, [text, ...(isExpanded(result) ? ["vx, vy: at the middle of the sensor"] : []), ...(isIdeal ? ["No calibration is known: start the viewer with --camera."] : []), ...(result.warnings ?? [])].join("\n"));
    panes.denoised.info(describeLabels(result));
    const [contrast, isLost] = describeContrast(result, state.get("map"));
    panes.contrast.info(contrast, isLost, `${contrast}\nVariance of the contrast map with the kernel of the method: ${result.kernel}`);
    panes.confidence.info(result.w_from === "events" ? "mean of events" : "");
  }
  panes.compare.title.textContent = state.get("filter") || "Compared";
  if (compare) panes.compare.info(describeLabels(compare));
}
