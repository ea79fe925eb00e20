// Draw pictures of events and curves of the last seconds.

const MIDDLE = 128; // no events, or as many ON as OFF
const FULL = 3; // events of one polarity with the full color
const HISTORY_S = 10;

/** A color of the style sheet as red, green, blue. */
function colorOf(name) {
  const text = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  return [1, 3, 5].map((k) => parseInt(text.slice(k, k + 2), 16));
}

/** Colors of all 256 values, as 32-bit pixels. */
function paletteOf() {
  const [ground, on, off] = ["picture", "on", "off"].map(colorOf);
  const palette = new Uint32Array(256);
  const bytes = new Uint8Array(palette.buffer);
  for (let value = 0; value < 256; value += 1) {
    const n = value - MIDDLE;
    const share = n ? 0.25 + 0.75 * Math.min(Math.abs(n) / FULL, 1) : 0;
    const color = n > 0 ? on : off;
    for (let k = 0; k < 3; k += 1) bytes[4 * value + k] = ground[k] + (color[k] - ground[k]) * share;
    bytes[4 * value + 3] = 255;
  }
  return palette;
}

const palettes = new Map(); // by theme

function currentPalette() {
  const { theme } = document.documentElement.dataset;
  if (!palettes.has(theme)) palettes.set(theme, paletteOf());
  return palettes.get(theme);
}

/** Join squares of pixels: the value with the most events of one polarity stays, so that none is lost. */
export function pooled(values, width, height, step) {
  const [columns, rows] = [Math.ceil(width / step), Math.ceil(height / step)];
  if (step === 1) return { values, columns, rows };
  const joined = new Uint8Array(columns * rows).fill(MIDDLE);
  for (let y = 0; y < height; y += 1) {
    const row = Math.floor(y / step) * columns;
    for (let x = 0; x < width; x += 1) {
      const value = values[y * width + x];
      const k = row + Math.floor(x / step);
      if (Math.abs(value - MIDDLE) > Math.abs(joined[k] - MIDDLE)) joined[k] = value;
    }
  }
  return { values: joined, columns, rows };
}

export function drawPicture(canvas, all, [height, width]) {
  const room = Math.max(1, canvas.clientWidth * (window.devicePixelRatio || 1));
  const { values, columns, rows } = pooled(all, width, height, Math.max(1, Math.round(width / room)));
  if (canvas.width !== columns || canvas.height !== rows) {
    canvas.width = columns;
    canvas.height = rows;
  }
  const palette = currentPalette();
  const image = new ImageData(columns, rows);
  const pixels = new Uint32Array(image.data.buffer);
  for (let k = 0; k < pixels.length; k += 1) pixels[k] = palette[values[k]];
  canvas.getContext("2d").putImageData(image, 0, 0);
}

/** Draw curves of the last seconds; colors are names of the style sheet, and `format` writes a value with its unit. */
export function drawCurve(canvas, ages, series, colors, format) {
  const scale = window.devicePixelRatio || 1;
  const width = Math.round(canvas.clientWidth * scale);
  const height = Math.round(canvas.clientHeight * scale);
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width;
    canvas.height = height;
  }
  const context = canvas.getContext("2d");
  context.clearRect(0, 0, width, height);
  if (!ages || ages.length < 2) return;
  const most = Math.max(1e-9, ...series.flat().map((value) => value ?? 0));
  const style = getComputedStyle(document.documentElement);
  context.fillStyle = style.getPropertyValue("--quiet");
  context.font = `${10 * scale}px system-ui, sans-serif`;
  context.fillText(`up to ${format(most < 1e-6 ? 0 : most)}`, 0, 10 * scale);
  context.fillText(`${HISTORY_S} s ago`, 0, height - 3 * scale);
  series.forEach((values, k) => {
    context.strokeStyle = style.getPropertyValue(`--${colors[k]}`);
    context.lineWidth = 1.5 * scale;
    context.beginPath();
    values.forEach((value, i) => {
      if (value === null) return; // no labels yet
      const x = width * (1 + ages[i] / HISTORY_S);
      const y = height - 2 - (height - 16 * scale) * (value / most);
      if (i && values[i - 1] !== null) context.lineTo(x, y);
      else context.moveTo(x, y);
    });
    context.stroke();
  });
}
