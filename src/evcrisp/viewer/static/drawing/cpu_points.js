// Loops over events for the CPU renderer. Each event is first encoded as one number, its pixel and its kind (0 or 1, which
// selects the color); then the pixel is colored. For speed: integer arithmetic in typed arrays, no destructuring of numbers
// (`const [a, b] =` keeps them boxed), and no branch on the kind, which the processor mispredicts.

/** Depths are stored in units of 1 / DEPTHS, so that depth and kind fit into 31 bits. */
const DEPTHS = 2 ** 25;
const [NEAR, FAR] = [0.05, 31];
const EMPTY = 0x7fffffff;
/** With layers, the kind is 0 for noise, 1 and more for layers, and needs more bits of the depth. */
const LAYER_BITS = 4;
const LAYER_DEPTHS = 2 ** 22;

/** Encode each event as 2 * pixel + kind, or -1 if hidden, for an image with the resolution of the sensor. */
export function plainPoints(points, { pixels, flags, byLabel, hidden }, width) {
  const n = pixels.length;
  for (let k = 0; k < n; k++) {
    const pixel = pixels[k] | 0;
    const label = flags ? flags[k] & 1 : -2;
    const kind = byLabel ? label : (pixel >>> 30) & 1;
    const place = Math.imul((pixel >>> 15) & 0x7fff, width) + (pixel & 0x7fff);
    points[k] = label === hidden ? -1 : (place << 1) | kind;
  }
}

/** The same for an image with `density` pixels per px of the sensor, and for shifted events. */
export function scaledPoints(points, { pixels, flags, byLabel, hidden, shiftX, shiftY }, size, width, height, density) {
  // Fixed-point columns and rows: three sensor sides, the range of shifted events, must fit into 31 bits.
  const bits = Math.floor(31 - Math.log2(3 * Math.max(size[0], size[1])));
  const step = Math.round(density * 2 ** bits);
  const perShiftX = (size[0] * density * 2 ** bits) / 32767.5;
  const perShiftY = (size[1] * density * 2 ** bits) / 32767.5;
  const stepX = Math.round(perShiftX);
  const stepY = Math.round(perShiftY);
  const firstX = Math.round(step / 2 + (shiftX ? perShiftX / 2 : 0)); // no shift is 32767.5
  const firstY = Math.round(step / 2 + (shiftX ? perShiftY / 2 : 0));
  const n = pixels.length;
  for (let k = 0; k < n; k++) {
    const pixel = pixels[k] | 0;
    const label = flags ? flags[k] & 1 : -2;
    let x = (Math.imul(pixel & 0x7fff, step) + firstX) | 0;
    let y = (Math.imul((pixel >>> 15) & 0x7fff, step) + firstY) | 0;
    if (shiftX) {
      x = (x + Math.imul(shiftX[k] - 32768, stepX)) | 0;
      y = (y + Math.imul(shiftY[k] - 32768, stepY)) | 0;
    }
    const column = x >> bits;
    const row = y >> bits;
    if (label === hidden || column >>> 0 >= width || row >>> 0 >= height) points[k] = -1;
    else points[k] = ((Math.imul(row, width) + column) << 1) | (byLabel ? label : (pixel >>> 30) & 1);
  }
}

/** Color the pixels; the latest event wins. */
export function solidPoints(words, points, n, [first, second]) {
  const change = first ^ second;
  for (let k = 0; k < n; k++) {
    const point = points[k];
    if (point >= 0) words[point >> 1] = first ^ (change & -(point & 1));
  }
}

/** The same with the colors of layers: `table` has a color for each byte of the flags. */
export function solidLayers(words, points, n, flags, table) {
  for (let k = 0; k < n; k++) {
    const point = points[k];
    if (point >= 0) words[point >> 1] = table[flags[k]];
  }
}

/** Blend a color into a pixel; `alpha` is 0 to 256. Two of the four bytes are blended at once, without overlap of their products. */
function blend(word, color, alpha) {
  const rest = 256 - alpha;
  const even = Math.imul(word & 0xff00ff, rest) + Math.imul(color & 0xff00ff, alpha) + 0x800080;
  const odd = Math.imul((word >>> 8) & 0xff00ff, rest) + Math.imul((color >>> 8) & 0xff00ff, alpha) + 0x800080;
  return ((even >>> 8) & 0xff00ff) | (odd & 0xff00ff00);
}

/** Blend the colors of the events into the pixels. */
export function blendPoints(words, points, n, dt, [first, second], { start, slope }) {
  const change = first ^ second;
  for (let k = 0; k < n; k++) {
    const point = points[k];
    if (point < 0) continue;
    const place = point >> 1;
    words[place] = blend(words[place], first ^ (change & -(point & 1)), (start + slope * dt[k]) | 0);
  }
}

/** The same with the colors of layers. */
export function blendLayers(words, points, n, dt, flags, table, { start, slope }) {
  for (let k = 0; k < n; k++) {
    const point = points[k];
    if (point < 0) continue;
    const place = point >> 1;
    words[place] = blend(words[place], table[flags[k]], (start + slope * dt[k]) | 0);
  }
}

/** Coefficients of column, row, time and 1 in x * depth, y * depth (px of the canvas) and depth. */
function projectionOf({ camera: m, size, first, duration }, width, height) {
  const side = Math.max(...size);
  const [midX, midY] = size.map((value) => (0.5 - value / 2) / side);
  const [x, y, depth] = [0, 1, 3].map((row) => {
    const [ofTime, ofRow, ofColumn, one] = [m[row], m[4 + row], m[8 + row], m[12 + row]];
    const rest = one - (0.8 + (1.6 * first) / duration) * ofTime + ofColumn * midX - ofRow * midY;
    return [ofColumn / side, -ofRow / side, (1.6 * ofTime) / duration, rest];
  });
  const [halfX, halfY] = [width / 2, height / 2];
  return [depth.map((value, k) => halfX * (value + x[k])), depth.map((value, k) => halfY * (value - y[k])), depth].map((line) => Float64Array.from(line));
}

/** Blend a color into a pixel, or keep the nearest 2 * depth + kind. */
function put(target, place, isBlended, color, alpha, near) {
  if (isBlended) target[place] = blend(target[place], color, alpha);
  else if (near < target[place]) target[place] = near;
}

/** Draw a cloud: with `blending`, the colors of the kinds into pixels; with null, the nearest event into an array of `clearNearest`. */
export function paintCloud(target, { pixels, flags, byLabel, byLayer, hidden, dt, shiftX, shiftY }, look, width, height, blending) {
  const [x, y, w] = projectionOf(look, width, height);
  const sideX = +look.size[0];
  const sideY = +look.size[1];
  const size = +look.point;
  const isBlended = blending !== null;
  const table = blending ? blending.table : new Int32Array(1);
  const bits = byLayer ? LAYER_BITS : 1;
  const depths = byLayer ? LAYER_DEPTHS : DEPTHS;
  const start = blending ? +blending.start : 0;
  const slope = blending ? +blending.slope : 0;
  const n = pixels.length;
  for (let k = 0; k < n; k++) {
    const pixel = pixels[k] | 0;
    const label = flags ? flags[k] & 1 : -2;
    if (label === hidden) continue;
    const kind = byLayer ? Math.imul(label, 1 + (flags[k] >> 1)) : byLabel ? label : (pixel >>> 30) & 1;
    let column = pixel & 0x7fff;
    let row = (pixel >>> 15) & 0x7fff;
    if (shiftX) {
      column += (shiftX[k] / 32767.5 - 1) * sideX;
      row += (shiftY[k] / 32767.5 - 1) * sideY;
    }
    const t = dt[k] | 0;
    const depth = w[0] * column + w[1] * row + w[2] * t + w[3];
    if (!(depth > NEAR && depth < FAR)) continue;
    const inverse = 1 / depth;
    const side = Math.max(1, (size * inverse + 0.5) | 0);
    // `| 0` truncates toward zero; the offset of 1024 makes it round down for negative numbers too.
    const left = ((inverse * (x[0] * column + x[1] * row + x[2] * t + x[3]) - 0.5 * side + 1024.5) | 0) - 1024;
    const top = ((inverse * (y[0] * column + y[1] * row + y[2] * t + y[3]) - 0.5 * side + 1024.5) | 0) - 1024;
    const near = ((depth * depths) << bits) | kind;
    const color = isBlended ? table[kind] : 0;
    const alpha = isBlended ? (start + slope * t) | 0 : 0;
    if (side === 1) {
      if (left >>> 0 < width && top >>> 0 < height) put(target, Math.imul(top, width) + left, isBlended, color, alpha, near);
      continue;
    }
    const right = Math.min(width, left + side);
    const bottom = Math.min(height, top + side);
    for (let v = Math.max(0, top); v < bottom; v++) {
      for (let place = v * width + Math.max(0, left); place < v * width + right; place++) put(target, place, isBlended, color, alpha, near);
    }
  }
}

/** Color the pixels by their nearest events. */
export function solidCloud(words, nearest, [first, second], ground) {
  const whole = first ^ ground;
  const change = first ^ second;
  const n = words.length;
  for (let k = 0; k < n; k++) {
    const depth = nearest[k];
    words[k] = ground ^ ((whole ^ (change & -(depth & 1))) & ((depth - EMPTY) >> 31));
  }
}

/** The same for layers; `table` has a color for each kind. */
export function solidLayerCloud(words, nearest, table, ground) {
  const n = words.length;
  const mask = (1 << LAYER_BITS) - 1;
  for (let k = 0; k < n; k++) words[k] = nearest[k] === EMPTY ? ground : table[nearest[k] & mask];
}

/** Reset the nearest events. */
export function clearNearest(nearest) {
  nearest.fill(EMPTY);
}
