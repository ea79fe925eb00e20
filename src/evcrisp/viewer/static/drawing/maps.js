// Draw maps of one byte per pixel in color, with a color bar.

import { ramp } from "evcrisp/drawing/colors";
import { viewOf } from "evcrisp/panes/pane";

const buffer = document.createElement("canvas");
const bars = new Map(); // color map -> canvas with its colors from left to right

/** Draw a map, or only the background for null. */
export function drawMap(canvas, map, facts, state, theme, scale) {
  const context = canvas.getContext("2d");
  const colors = ramp(theme);
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.fillStyle = `rgb(${colors[0]}, ${colors[1]}, ${colors[2]})`;
  context.fillRect(0, 0, canvas.width, canvas.height);
  if (!map) return;
  if (buffer.width !== facts.width) buffer.width = facts.width;
  if (buffer.height !== facts.height) buffer.height = facts.height;
  const image = new ImageData(facts.width, facts.height);
  const words = new Uint32Array(image.data.buffer);
  const table = new Uint32Array(colors.buffer);
  for (let k = 0; k < map.length; k++) words[k] = table[map[k]];
  buffer.getContext("2d").putImageData(image, 0, 0);
  const view = viewOf(canvas, facts, state);
  context.imageSmoothingEnabled = view.scale < 1;
  context.drawImage(buffer, view.left, view.top, facts.width * view.scale, facts.height * view.scale);
  drawColorBar(context, canvas, colors, theme, scale);
}

function barOf(colors) {
  if (bars.has(colors)) return bars.get(colors);
  const bar = Object.assign(document.createElement("canvas"), { width: 256, height: 1 });
  bar.getContext("2d").putImageData(new ImageData(colors, 256, 1), 0, 0);
  bars.set(colors, bar);
  return bar;
}

function drawColorBar(context, canvas, colors, theme, { low, high }) {
  const ratio = devicePixelRatio || 1;
  const width = 120 * ratio;
  const height = 8 * ratio;
  const x = canvas.width - width - 8 * ratio;
  const y = canvas.height - height - 20 * ratio;
  context.drawImage(barOf(colors), x, y, width, height);
  const ink = theme === "dark" ? "#e6eaf0" : "#1b2027";
  context.strokeStyle = ink;
  context.lineWidth = ratio;
  context.strokeRect(x, y, width, height);
  context.font = `${11 * ratio}px system-ui, sans-serif`;
  context.fillStyle = ink;
  context.lineWidth = 3 * ratio;
  context.strokeStyle = theme === "dark" ? "#0b0e13" : "#ffffff";
  for (const [text, align, place] of [[low, "left", x], [high, "right", x + width]]) {
    context.textAlign = align;
    context.strokeText(text, place, y + height + 12 * ratio);
    context.fillText(text, place, y + height + 12 * ratio);
  }
}
