// The x-y-t cloud: camera, rotation with the mouse, and the box around the events.

import { attachWheel } from "evcrisp/controls/wheel";
import { formatDuration } from "evcrisp/formatting";

/** Distance of the eye from the box; the state has the zoom as `distance`, 2.1 for the whole box. */
const EYE = 3;
const WHOLE = 2.1;
/** Space around the box for its labels, CSS px; a pane with less height has no labels, and a smaller margin. */
const [MARGIN, SMALL_MARGIN, LEAST_LABELED] = [20, 6, 150];
/** Views among which the start is chosen: yaw and pitch. */
const VIEWS = [0.45, 0.75, 1.05].flatMap((yaw) => [0.2, 0.45, 0.75].flatMap((pitch) => [[yaw, pitch], [-yaw, pitch]]));

/** Projection matrix, column by column, from the box (t right, y up, x toward the viewer) to the canvas; the box fills the canvas. */
export function cameraOf(canvas, state, facts) {
  const [yaw, pitch, distance] = ["yaw", "pitch", "distance"].map((name) => state.get(name));
  const stretch = stretchOf(canvas, yaw, pitch, facts);
  const turn = turnOf(yaw, pitch, stretch);
  const { middle, scale } = fit(canvas, multiply(lensOf(1, 1), turn), facts);
  const zoom = WHOLE / distance;
  const [wide, high] = [(2 * scale * zoom) / canvas.width, (2 * scale * zoom) / canvas.height];
  const camera = multiply(lensOf(wide, high), turn);
  // Move the middle of the box to the middle of the canvas: shift x and y by a multiple of w.
  for (let column = 0; column < 4; column++) {
    camera[4 * column] -= middle[0] * wide * camera[4 * column + 3];
    camera[4 * column + 1] -= middle[1] * high * camera[4 * column + 3];
  }
  return camera;
}

function turnOf(yaw, pitch, stretch) {
  const [cy, sy, cp, sp] = [Math.cos(yaw), Math.sin(yaw), Math.cos(pitch), Math.sin(pitch)];
  return [stretch * cy, stretch * sp * sy, -stretch * cp * sy, 0, 0, cp, sp, 0, sy, -sp * cy, cp * cy, 0, 0, 0, -EYE, 1];
}

function lensOf(wide, high) {
  const [near, far] = [0.05, 20];
  return [wide, 0, 0, 0, 0, high, 0, 0, 0, 0, (far + near) / (near - far), -1, 0, 0, (2 * far * near) / (near - far), 0];
}

/** Half sides of the box: time, rows, columns. */
function sidesOf(facts) {
  const side = Math.max(facts.width, facts.height);
  return [0.8, facts.height / side / 2, facts.width / side / 2];
}

function cornersOf(facts) {
  const [t, y, x] = sidesOf(facts);
  return Array.from({ length: 8 }, (_, k) => [k & 1 ? t : -t, k & 2 ? y : -y, k & 4 ? x : -x]);
}

/** Position before the lens fits the canvas. */
function flat(camera, [x, y, z]) {
  const clip = [0, 1, 3].map((row) => camera[row] * x + camera[4 + row] * y + camera[8 + row] * z + camera[12 + row]);
  return [clip[0] / clip[2], clip[1] / clip[2]];
}

function hasLabels(canvas) {
  return canvas.height >= LEAST_LABELED * (devicePixelRatio || 1);
}

/** Middle of the projected box, its extent, and px of the canvas per unit with which it fills the canvas. */
function fit(canvas, camera, facts) {
  const ratio = devicePixelRatio || 1;
  const margin = hasLabels(canvas) ? MARGIN : SMALL_MARGIN;
  const places = cornersOf(facts).map((corner) => flat(camera, corner));
  const [low, high] = [Math.min, Math.max].map((of) => [0, 1].map((k) => of(...places.map((place) => place[k]))));
  const extent = [0, 1].map((k) => high[k] - low[k] || 1);
  const room = [canvas.width, canvas.height].map((side) => Math.max(side - 2 * margin * ratio, 0.6 * side));
  return { middle: low.map((value, k) => (value + high[k]) / 2), extent, scale: Math.min(room[0] / extent[0], room[1] / extent[1]), room };
}

/** Length of the time axis, which has no unit in common with the others, with which the box fills the canvas in both directions. */
function stretchOf(canvas, yaw, pitch, facts) {
  const excess = (stretch) => {
    const { extent, room } = fit(canvas, multiply(lensOf(1, 1), turnOf(yaw, pitch, stretch)), facts);
    return extent[0] / extent[1] - room[0] / room[1];
  };
  let [low, high] = [0.5, 2.2];
  if (excess(low) > 0) return low;
  if (excess(high) < 0) return high;
  for (let k = 0; k < 12; k++) {
    const middle = (low + high) / 2;
    if (excess(middle) > 0) high = middle;
    else low = middle;
  }
  return low;
}

/** View in which the events are most concentrated: edges that move are seen along their traces. */
export function bestView(events, facts, duration) {
  const n = events.pixels.length;
  const step = Math.max(1, Math.floor(n / 8000));
  const side = Math.max(facts.width, facts.height);
  const points = [];
  for (let k = 0; k < n; k += step) {
    const pixel = events.pixels[k];
    const [column, row] = [pixel & 0x7fff, (pixel >>> 15) & 0x7fff];
    const age = (events.dt[k] - (events.dt_first ?? 0)) / duration;
    points.push([(age - 0.5) * 1.6, -(row - facts.height / 2) / side, (column - facts.width / 2) / side]);
  }
  let [best, top] = [VIEWS[0], -1];
  for (const view of VIEWS) {
    const value = concentration(points, multiply(lensOf(1, 1), turnOf(...view, 1)));
    if (value > top) [best, top] = [view, value];
  }
  return best;
}

/** Sum of squares of the number of points per cell of a view. */
export function concentration(points, camera) {
  const cells = 96;
  const counts = new Float32Array(cells * cells);
  for (const point of points) {
    const [x, y] = flat(camera, point);
    const column = Math.floor((x * 1.2 + 0.5) * cells);
    const row = Math.floor((y * 1.2 + 0.5) * cells);
    if (column >= 0 && row >= 0 && column < cells && row < cells) counts[row * cells + column] += 1;
  }
  return counts.reduce((sum, count) => sum + count * count, 0);
}

function multiply(a, b) {
  const product = new Float32Array(16);
  for (let column = 0; column < 4; column++) {
    for (let row = 0; row < 4; row++) {
      let sum = 0;
      for (let k = 0; k < 4; k++) sum += a[4 * k + row] * b[4 * column + k];
      product[4 * column + row] = sum;
    }
  }
  return product;
}

function project(canvas, camera, [x, y, z]) {
  const clip = [0, 1, 3].map((row) => camera[row] * x + camera[4 + row] * y + camera[8 + row] * z + camera[12 + row]);
  return [(clip[0] / clip[2] / 2 + 0.5) * canvas.width, (0.5 - clip[1] / clip[2] / 2) * canvas.height];
}

/** Edges of the box that run along an axis, as pairs of corners; the bit of a corner is its side. */
function edgesAlong(facts, bit) {
  const corners = cornersOf(facts);
  return [0, 1, 2, 3, 4, 5, 6, 7].filter((k) => !(k & bit)).map((k) => [corners[k], corners[k | bit]]);
}

/** Draw the box, and its labels beside the events. */
export function drawBox(canvas, camera, facts, duration, color, ground) {
  const context = canvas.getContext("2d");
  const ratio = devicePixelRatio || 1;
  context.strokeStyle = color;
  context.globalAlpha = 0.5;
  context.lineWidth = ratio;
  context.beginPath();
  for (const bit of [1, 2, 4]) {
    for (const [from, to] of edgesAlong(facts, bit)) {
      context.moveTo(...project(canvas, camera, from));
      context.lineTo(...project(canvas, camera, to));
    }
  }
  context.stroke();
  context.globalAlpha = 1;
  if (!hasLabels(canvas)) return;
  context.fillStyle = color;
  context.strokeStyle = ground;
  context.lineWidth = 3 * ratio;
  context.font = `${11 * ratio}px system-ui, sans-serif`;
  const axes = [[1, `t, ${formatDuration(duration)}`], [2, `y, ${facts.height} px`], [4, `x, ${facts.width} px`]];
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (const { text, angle, place, length } of labelsOf(canvas, camera, facts, axes)) {
    if (context.measureText(text).width > length) continue; // labels of short edges would touch each other
    context.translate(...place);
    context.rotate(angle);
    context.strokeText(text, 0, 0);
    context.fillText(text, 0, 0);
    context.setTransform(1, 0, 0, 1, 0, 0);
  }
  context.textBaseline = "alphabetic";
}

/** Labels along the outermost edge of each axis, outside of the box. */
export function labelsOf(canvas, camera, facts, axes) {
  const ratio = devicePixelRatio || 1;
  const center = project(canvas, camera, [0, 0, 0]);
  return axes.map(([bit, text]) => {
    const edges = edgesAlong(facts, bit).map((edge) => edge.map((corner) => project(canvas, camera, corner)));
    const sides = edges.map(([a, b]) => outward(a, b, center));
    const k = sides.reduce((best, side, index) => (side.distance > sides[best].distance ? index : best), 0);
    const [[a, b], { normal }] = [edges[k], sides[k]];
    const angle = Math.atan2(b[1] - a[1], b[0] - a[0]);
    const upright = Math.abs(angle) > Math.PI / 2 + 1e-6 ? angle - Math.sign(angle) * Math.PI : angle;
    return { text, angle: upright, length: Math.hypot(b[0] - a[0], b[1] - a[1]), place: [0, 1].map((axis) => (a[axis] + b[axis]) / 2 + normal[axis] * 10 * ratio) };
  });
}

/** Normal of an edge that points away from the center, and the distance of the edge from it. */
function outward(a, b, center) {
  const middle = [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
  const length = Math.hypot(b[0] - a[0], b[1] - a[1]) || 1;
  let normal = [(b[1] - a[1]) / length, -(b[0] - a[0]) / length];
  let distance = normal[0] * (middle[0] - center[0]) + normal[1] * (middle[1] - center[1]);
  if (distance < 0) [normal, distance] = [normal.map((value) => -value), -distance];
  return { normal, distance };
}

export function attachRotation(canvas, app) {
  const { state } = app;
  let last = null;
  canvas.addEventListener("pointerdown", (event) => {
    last = [event.clientX, event.clientY];
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!last) return;
    const yaw = state.get("yaw") + (event.clientX - last[0]) / 150;
    const pitch = state.get("pitch") + (event.clientY - last[1]) / 150;
    last = [event.clientX, event.clientY];
    state.set({ yaw, pitch: Math.max(-1.57, Math.min(1.57, pitch)) });
  });
  canvas.addEventListener("pointerup", () => (last = null));
  attachWheel(canvas, (event) => {
    const distance = state.get("distance") * Math.exp(event.deltaY / 600);
    state.set({ distance: Math.min(8, Math.max(0.8, distance)) });
  }, () => app.showWheelHint());
  canvas.addEventListener("dblclick", () => state.set({ ...state.home, distance: WHOLE }));
}
