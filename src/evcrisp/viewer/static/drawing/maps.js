// Draw maps of one byte per pixel in color; their color bars stand below the pictures.

import { ramp } from "evcrisp/drawing/colors";
import { viewOf } from "evcrisp/panes/pane";

const buffer = document.createElement("canvas");

/** Largest value of each square of pixels of a map: thin edges stay visible when a map is drawn smaller. */
export function pooled(map, width, height, factor) {
  const columns = Math.ceil(width / factor);
  const rows = Math.ceil(height / factor);
  if (factor === 1) return { map, columns, rows };
  const smaller = new Uint8Array(columns * rows);
  for (let y = 0; y < height; y++) {
    const row = Math.floor(y / factor) * columns;
    for (let x = 0; x < width; x++) {
      const place = row + ((x / factor) | 0);
      const value = map[y * width + x];
      if (value > smaller[place]) smaller[place] = value;
    }
  }
  return { map: smaller, columns, rows };
}

/** Draw a map, or only the background for null; `factor` is the side of its pixels, px of the sensor. */
export function drawMap(canvas, map, facts, state, theme, factor = 1) {
  const context = canvas.getContext("2d");
  const colors = ramp(theme);
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.fillStyle = `rgb(${colors[0]}, ${colors[1]}, ${colors[2]})`;
  context.fillRect(0, 0, canvas.width, canvas.height);
  if (!map) return;
  const view = viewOf(canvas, facts, state);
  const size = [facts.width, facts.height].map((side) => Math.ceil(side / factor));
  const scale = view.scale * factor; // px of the canvas per pixel of the map
  const shown = pooled(map, ...size, Math.max(1, Math.floor(1 / scale + 1e-6)));
  Object.assign(buffer, { width: shown.columns, height: shown.rows });
  const image = new ImageData(shown.columns, shown.rows);
  const words = new Uint32Array(image.data.buffer);
  const table = new Uint32Array(colors.buffer);
  for (let k = 0; k < shown.map.length; k++) words[k] = table[shown.map[k]];
  buffer.getContext("2d").putImageData(image, 0, 0);
  const side = scale * Math.ceil(size[0] / shown.columns); // of a drawn pixel
  context.save();
  context.beginPath();
  context.rect(view.left, view.top, facts.width * view.scale, facts.height * view.scale);
  context.clip(); // the last pixels of a coarse map can reach beyond the sensor
  context.imageSmoothingEnabled = side < 1.5 && side !== 1;
  context.drawImage(buffer, view.left, view.top, shown.columns * side, shown.rows * side);
  context.restore();
}

/** Color bar with the texts of its ends, as elements. */
export function colorBar(theme, low, high) {
  const bar = Object.assign(document.createElement("span"), { className: "bar" });
  const colors = ramp(theme);
  const stops = Array.from({ length: 9 }, (_, k) => 4 * Math.round((k / 8) * 255)).map((k) => `rgb(${colors[k]} ${colors[k + 1]} ${colors[k + 2]})`);
  bar.style.setProperty("--ramp", `linear-gradient(to right, ${stops.join(", ")})`);
  return [low, bar, high];
}
