// Events drawn by the processor: for browsers without a graphics card, where this is many times faster than WebGL, which
// the processor would have to imitate. Images have one pixel per pixel of the sensor, or of the canvas if that has fewer,
// so that no event is lost.

const ALPHA_OF_DENSITY = 0.3;
const ALPHA_OF_OLDEST = 0.05;

const isLittleEndian = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;

function word([r, g, b]) {
  const [x, y, z] = [r, g, b].map((value) => Math.round(255 * value));
  return (isLittleEndian ? (255 << 24) | (z << 16) | (y << 8) | x : (x << 24) | (y << 16) | (z << 8) | 255) >>> 0;
}

/** Mix a color into a pixel. */
function blend(bytes, place, color, alpha) {
  const k = 4 * place;
  for (let c = 0; c < 3; c++) bytes[k + c] += (255 * color[c] - bytes[k + c]) * alpha;
}

/** Of each event 0 or 1 for its color, or -1 if it is not shown. Loops over plain arrays are what is fast. */
function kindsOf({ pixels, flags }, look) {
  const n = pixels.length;
  const kinds = new Int8Array(n);
  const hidden = { all: -1, signal: 0, noise: 1 }[look.show];
  for (let k = 0; k < n; k++) {
    const label = flags ? flags[k] & 1 : 1;
    kinds[k] = flags && label === hidden ? -1 : look.byLabel ? label : (pixels[k] >>> 30) & 1;
  }
  return kinds;
}

/** Columns and rows of the events, px of the sensor. */
function placesOf({ pixels, shift_x: shiftX, shift_y: shiftY }, look) {
  const [width, height] = look.size;
  const n = pixels.length;
  const [x, y] = [new Float32Array(n), new Float32Array(n)];
  const isAligned = Boolean(look.isAligned && shiftX);
  for (let k = 0; k < n; k++) {
    x[k] = pixels[k] & 0x7fff;
    y[k] = (pixels[k] >>> 15) & 0x7fff;
    if (isAligned) {
      x[k] += (shiftX[k] / 32767.5 - 1) * width;
      y[k] += (shiftY[k] / 32767.5 - 1) * height;
    }
  }
  return [x, y];
}

export class Raster {
  constructor() {
    this.name = "processor";
    this.scratch = document.createElement("canvas");
  }

  keepOnly() {}

  finish() {}

  draw(jobs) {
    for (const { target, layer, look } of jobs) {
      const context = target.getContext("2d");
      context.setTransform(1, 0, 0, 1, 0, 0);
      if (look.camera) this.cloud(context, target, layer, look);
      else this.image(context, target, layer, look);
    }
  }

  image(context, target, layer, look) {
    const { left, top, scale } = look.frame;
    const density = Math.min(1, scale);
    const [width, height] = look.size.map((side) => Math.max(1, Math.ceil(side * density)));
    const image = new ImageData(width, height);
    const words = new Uint32Array(image.data.buffer).fill(word(look.ground));
    if (layer) paintImage(image, words, layer, look, density);
    this.scratch.width = width;
    this.scratch.height = height;
    this.scratch.getContext("2d").putImageData(image, 0, 0);
    context.fillStyle = `rgb(${look.ground.map((value) => 255 * value).join(" ")})`;
    context.fillRect(0, 0, target.width, target.height);
    context.imageSmoothingEnabled = false;
    const zoom = scale / density;
    if (zoom === 1) context.drawImage(this.scratch, Math.round(left), Math.round(top));
    else context.drawImage(this.scratch, left, top, width * zoom, height * zoom);
  }

  cloud(context, target, layer, look) {
    const image = new ImageData(target.width, target.height);
    const words = new Uint32Array(image.data.buffer).fill(word(look.ground));
    if (layer) paintCloud(image, words, layer, look);
    context.putImageData(image, 0, 0);
  }
}

function paletteOf(look) {
  return look.byLabel ? [look.noise, look.signal] : [look.off, look.on];
}

function alphaOf({ dt }, look) {
  if (look.accumulation === "density") return () => ALPHA_OF_DENSITY;
  return (k) => ALPHA_OF_OLDEST + (1 - ALPHA_OF_OLDEST) * (dt[k] / look.length);
}

function paintImage({ data, width, height }, words, layer, look, density) {
  const [columns, rows] = placesOf(layer, look);
  const [kinds, alpha, colors] = [kindsOf(layer, look), alphaOf(layer, look), paletteOf(look)];
  const solid = colors.map(word);
  const isBlended = look.accumulation !== "latest";
  for (let k = 0; k < kinds.length; k++) {
    const which = kinds[k];
    const x = Math.floor((columns[k] + 0.5) * density);
    const y = Math.floor((rows[k] + 0.5) * density);
    if (which < 0 || x < 0 || y < 0 || x >= width || y >= height) continue;
    if (isBlended) blend(data, y * width + x, colors[which], alpha(k));
    else words[y * width + x] = solid[which];
  }
}

function paintCloud(image, words, layer, look) {
  const { width, height } = image;
  const { camera: m, size } = look;
  const side = Math.max(...size);
  const [columns, rows] = placesOf(layer, look);
  const [kinds, alpha, colors] = [kindsOf(layer, look), alphaOf(layer, look), paletteOf(look)];
  const solid = colors.map(word);
  const isBlended = look.accumulation !== "latest";
  const nearest = new Float32Array(width * height).fill(Infinity);
  for (let k = 0; k < kinds.length; k++) {
    const which = kinds[k];
    if (which < 0) continue;
    const x = (layer.dt[k] / look.length - 0.5) * 1.6;
    const y = -(rows[k] + 0.5 - size[1] / 2) / side;
    const z = (columns[k] + 0.5 - size[0] / 2) / side;
    const w = m[3] * x + m[7] * y + m[11] * z + m[15];
    if (w <= 0.05) continue;
    const point = Math.max(1, Math.round(look.point / w));
    const left = Math.round(((m[0] * x + m[4] * y + m[8] * z + m[12]) / w / 2 + 0.5) * width - point / 2);
    const top = Math.round((0.5 - (m[1] * x + m[5] * y + m[9] * z + m[13]) / w / 2) * height - point / 2);
    for (let v = Math.max(0, top); v < Math.min(height, top + point); v++) {
      for (let u = Math.max(0, left); u < Math.min(width, left + point); u++) {
        const place = v * width + u;
        if (isBlended) blend(image.data, place, colors[which], alpha(k));
        else if (w < nearest[place]) {
          nearest[place] = w;
          words[place] = solid[which];
        }
      }
    }
  }
}
