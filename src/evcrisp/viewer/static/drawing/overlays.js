// Boxes of layers and arrows or colors of the flow, drawn over the events of a pane.

import { flowColor, layerPalette } from "evcrisp/drawing/colors";
import { formatNumber } from "evcrisp/formatting";

const FONT = "system-ui, sans-serif";

/** Boxes, numbers and directions of several layers. */
export function drawLayers(canvas, view, layers, ground) {
  const context = canvas.getContext("2d");
  const ratio = devicePixelRatio || 1;
  const { colors } = layerPalette(ground);
  const fastest = Math.max(...layers.map(({ velocity }) => Math.hypot(...velocity)), 1e-9);
  const reach = 0.1 * Math.min(canvas.width, canvas.height);
  context.font = `bold ${11 * ratio}px ${FONT}`;
  context.textAlign = "left";
  for (const { id, slot, box, velocity, doubts } of layers) {
    const isDoubtful = Boolean(doubts?.length);
    const [x, y, width, height] = box.map((value) => value * view.scale);
    context.strokeStyle = context.fillStyle = colors[slot];
    context.lineWidth = 1.5 * ratio;
    context.setLineDash(isDoubtful ? [4 * ratio, 4 * ratio] : []);
    context.strokeRect(view.left + x, view.top + y, width, height);
    context.setLineDash([]);
    const middle = [view.left + x + width / 2, view.top + y + height / 2];
    const step = velocity.map((value) => (value / fastest) * reach);
    drawArrows(context, [[middle, step]], { color: colors[slot], ground, width: 2 * ratio, head: 7 * ratio });
    drawTag(context, `${isDoubtful ? "⚠ " : ""}${id}`, [view.left + x, view.top + y], colors[slot], ratio);
  }
}

/** Number of a layer in its color, filled: dark colors on a dark ground could not be read as text. */
function drawTag(context, text, [left, top], color, ratio) {
  const width = context.measureText(text).width + 6 * ratio;
  context.fillStyle = color;
  context.fillRect(left, top, width, 14 * ratio);
  context.fillStyle = isLight(color) ? "#000000" : "#ffffff";
  context.fillText(text, left + 3 * ratio, top + 11 * ratio);
}

/** Whether black is easier to read on a color "#rrggbb" than white. */
export function isLight(color) {
  const [red, green, blue] = [1, 3, 5].map((k) => (parseInt(color.slice(k, k + 2), 16) / 255) ** 2.2);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.18;
}

/** One arrow for the motion of the window, from the middle of the sensor; a doubtful one has the color of doubt. */
export function drawMotionArrow(canvas, view, velocity, facts, color, ground) {
  const ratio = devicePixelRatio || 1;
  const speed = Math.hypot(...velocity);
  if (!(speed > 0)) return;
  const reach = 0.22 * Math.min(facts.width, facts.height) * view.scale;
  const middle = [view.left + (facts.width / 2) * view.scale, view.top + (facts.height / 2) * view.scale];
  const step = velocity.map((value) => (value / speed) * reach);
  drawArrows(canvas.getContext("2d"), [[middle, step]], { color, ground, width: 3 * ratio, head: 12 * ratio });
}

/** Add the shaft of an arrow to a path of lines, or its head to a path of areas. */
function addArrow(path, part, [x, y], [dx, dy], head) {
  const length = Math.hypot(dx, dy);
  if (length < 1) return;
  const [ux, uy] = [dx / length, dy / length];
  const tip = Math.min(head, length);
  const [endX, endY] = [x + dx - ux * tip, y + dy - uy * tip];
  if (part === "shaft") {
    path.moveTo(x, y);
    path.lineTo(endX, endY);
    return;
  }
  path.moveTo(x + dx, y + dy);
  path.lineTo(endX - uy * tip * 0.5, endY + ux * tip * 0.5);
  path.lineTo(endX + uy * tip * 0.5, endY - ux * tip * 0.5);
  path.closePath();
}

/** Arrows of one color, with a thin border in the color of the ground if there is one; few calls, because each costs time. */
function drawArrows(context, arrows, { color, ground, width, head }) {
  const [shafts, heads] = [new Path2D(), new Path2D()];
  for (const [place, step] of arrows) {
    addArrow(shafts, "shaft", place, step, head);
    addArrow(heads, "head", place, step, head);
  }
  if (ground) {
    context.strokeStyle = ground;
    context.lineWidth = 2 * width;
    context.stroke(shafts);
    context.lineWidth = width;
    context.stroke(heads);
  }
  context.strokeStyle = context.fillStyle = color;
  context.lineWidth = width;
  context.stroke(shafts);
  context.fill(heads);
}

/** Speed below which nine of ten cells are, px/s: a few wrong cells must not make all others small. */
export function topSpeed(flow) {
  const speeds = [];
  for (let k = 0; k < flow.length; k += 2) if (Number.isFinite(flow[k])) speeds.push(Math.hypot(flow[k], flow[k + 1]));
  speeds.sort((a, b) => a - b);
  return speeds.length ? speeds[Math.floor(0.9 * (speeds.length - 1))] : 0;
}

/** The flow as "arrows" or "colors" of a color wheel, with its key. */
export function drawFlow(canvas, view, result, facts, style, ground) {
  const { flow, flow_cell_px: cell } = result;
  const top = topSpeed(flow);
  if (!(top > 0)) return;
  const context = canvas.getContext("2d");
  const size = { columns: Math.ceil(facts.width / cell), rows: Math.ceil(facts.height / cell) };
  if (style === "colors") drawCells(context, view, flow, cell, size, facts, top);
  else drawFlowArrows(context, view, flow, cell, size, facts, top, ground);
}

function drawFlowArrows(context, view, flow, cell, { columns, rows }, facts, top, ground) {
  const ratio = devicePixelRatio || 1;
  const scale = (0.9 * cell * view.scale) / top;
  const arrows = [];
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const k = 2 * (row * columns + column);
      const [vx, vy] = [flow[k], flow[k + 1]];
      if (!Number.isFinite(vx)) continue;
      const shrink = Math.min(1, top / (Math.hypot(vx, vy) || 1)) * scale;
      const x = Math.min(column * cell + cell / 2, facts.width - 1);
      const y = Math.min(row * cell + cell / 2, facts.height - 1);
      arrows.push([[view.left + x * view.scale, view.top + y * view.scale], [vx * shrink, vy * shrink]]);
    }
  }
  drawArrows(context, arrows, { color: inkOn(ground), ground: "", width: 1.2 * ratio, head: 4 * ratio });
}

function inkOn(ground) {
  return ground === "#0b0e13" ? "#ffffff" : "#000000";
}

function drawCells(context, view, flow, cell, { columns, rows }, facts, top) {
  const image = new ImageData(columns, rows);
  for (let k = 0; k < columns * rows; k++) {
    if (!Number.isFinite(flow[2 * k])) continue;
    image.data.set(flowColor(flow[2 * k], flow[2 * k + 1], top), 4 * k);
    image.data[4 * k + 3] = 120;
  }
  const sheet = Object.assign(document.createElement("canvas"), { width: columns, height: rows });
  sheet.getContext("2d").putImageData(image, 0, 0);
  context.save();
  context.beginPath();
  context.rect(view.left, view.top, facts.width * view.scale, facts.height * view.scale);
  context.clip(); // the last cells can reach beyond the sensor
  context.imageSmoothingEnabled = false;
  context.drawImage(sheet, view.left, view.top, columns * cell * view.scale, rows * cell * view.scale);
  context.restore();
}

let wheel = null;

/** A disk with the color of a motion from its middle to each place. */
function wheelOf() {
  if (wheel) return wheel;
  const side = 48;
  const image = new ImageData(side, side);
  for (let k = 0; k < side * side; k++) {
    const x = ((k % side) - (side - 1) / 2) / (side / 2);
    const y = (Math.floor(k / side) - (side - 1) / 2) / (side / 2);
    if (Math.hypot(x, y) > 1) continue;
    image.data.set(flowColor(x, y, 1), 4 * k);
    image.data[4 * k + 3] = 255;
  }
  wheel = Object.assign(document.createElement("canvas"), { width: side, height: side });
  wheel.getContext("2d").putImageData(image, 0, 0);
  return wheel;
}

/** Key of the flow as elements: speed of a full arrow, or of the rim of the color wheel. */
export function flowKey(style, top) {
  const text = `${formatNumber(Number(top.toPrecision(2)))} px/s`;
  if (style !== "colors") return [Object.assign(document.createElement("i"), { className: "arrow", textContent: "➜" }), `longest arrow ${text}`];
  const disk = Object.assign(document.createElement("canvas"), { width: 48, height: 48 });
  disk.getContext("2d").drawImage(wheelOf(), 0, 0);
  return [disk, `direction of the motion; rim ${text}`];
}
