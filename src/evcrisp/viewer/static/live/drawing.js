// Draw pictures of events and curves of the last seconds.

const ON = [255, 90, 82];
const OFF = [74, 163, 255];
const GROUND = [11, 14, 19];
const MIDDLE = 128; // no events, or as many ON as OFF
const FULL = 3; // events of one polarity with the full color
const HISTORY_S = 10;
const TEXT = "#95a1b0";
const COLORS = ["#4aa3ff", "#3ddc84"];

// Colors of all 256 values, as 32-bit pixels.
const PALETTE = new Uint32Array(256);
const bytes = new Uint8Array(PALETTE.buffer);
for (let value = 0; value < 256; value += 1) {
  const n = value - MIDDLE;
  const share = Math.min(Math.abs(n) / FULL, 1);
  const color = n > 0 ? ON : OFF;
  for (let k = 0; k < 3; k += 1) {
    bytes[4 * value + k] = GROUND[k] + (color[k] - GROUND[k]) * (n ? 0.25 + 0.75 * share : 0);
  }
  bytes[4 * value + 3] = 255;
}

export function drawPicture(canvas, values, [height, width]) {
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width;
    canvas.height = height;
  }
  const image = new ImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  for (let k = 0; k < pixels.length; k += 1) pixels[k] = PALETTE[values[k]];
  canvas.getContext("2d").putImageData(image, 0, 0);
}

export function drawCurve(canvas, ages, series) {
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
  context.fillStyle = TEXT;
  context.font = `${10 * scale}px system-ui, sans-serif`;
  context.fillText(`up to ${most < 10 ? Number(most.toFixed(1)) : Math.round(most).toLocaleString("en")}`, 0, 10 * scale);
  context.fillText(`${HISTORY_S} s ago`, 0, height - 3 * scale);
  series.forEach((values, k) => {
    context.strokeStyle = COLORS[k % COLORS.length];
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
