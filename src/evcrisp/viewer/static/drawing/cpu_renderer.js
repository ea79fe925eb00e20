// Draw events with the processor, for browsers without a graphics card: much faster than WebGL in software. Images have the
// resolution of the sensor, or that of the canvas if it is lower.

import {
  blendLayers,
  blendPoints,
  clearNearest,
  paintCloud,
  plainPoints,
  scaledPoints,
  solidCloud,
  solidLayerCloud,
  solidLayers,
  solidPoints,
} from "evcrisp/drawing/cpu_points";

/** Opacity of the oldest event that fades, of 256. */
const ALPHA_OF_OLDEST = 13;

const isLittleEndian = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;

function word([r, g, b]) {
  const [x, y, z] = [r, g, b].map((value) => Math.round(255 * value));
  return isLittleEndian ? (255 << 24) | (z << 16) | (y << 8) | x : (x << 24) | (y << 16) | (z << 8) | 255;
}

/** Colors of the kinds 0 and 1. */
function colorsOf(look) {
  return (look.byLabel ? [look.noise, look.signal] : [look.off, look.on]).map(word);
}

/** Colors of the kinds of a cloud; with layers, of noise and of the layers. */
function kindColors(look) {
  return Int32Array.from(look.byLayer ? [look.noise, ...look.layers].map(word) : colorsOf(look));
}

/** Color of each byte of the flags: bit 0 is the label, bits 1 to 7 the layer. */
function flagColors(look) {
  const colors = kindColors(look);
  return Int32Array.from({ length: 256 }, (_, flags) => colors[flags & 1 ? 1 + ((flags >> 1) % look.layers.length) : 0]);
}

/** Opacity of an event: value at time 0, and increase per microsecond. */
function alphaOf(look) {
  if (look.accumulation !== "fade") return { start: Math.round(256 * look.alpha), slope: 0 };
  const slope = (256 - ALPHA_OF_OLDEST) / look.duration;
  return { start: ALPHA_OF_OLDEST - slope * look.first, slope };
}

/** Columns of a layer for the loops; null for unused ones. */
function columnsOf({ pixels, dt, flags, shift_x: shiftX, shift_y: shiftY }, look) {
  const isAligned = Boolean(look.isAligned && shiftX);
  const byLayer = Boolean(look.byLayer && flags);
  const byLabel = Boolean(look.byLabel && flags && !byLayer);
  const hidden = flags ? { all: -1, signal: 0, noise: 1 }[look.show] : -1;
  return {
    pixels,
    dt,
    flags: byLabel || byLayer || hidden >= 0 ? flags : null,
    byLabel,
    byLayer,
    hidden,
    shiftX: isAligned ? shiftX : null,
    shiftY: isAligned ? shiftY : null,
  };
}

/** Arrays that are reused from frame to frame. */
class Buffers {
  constructor() {
    this.arrays = new Map();
  }

  take(name, Type, n) {
    let array = this.arrays.get(name);
    if (!array || array.length < n || array.length > 4 * n + 65536) {
      array = new Type(n);
      this.arrays.set(name, array);
    }
    return array;
  }
}

export class CpuRenderer {
  constructor() {
    this.name = "processor";
    this.buffers = new Buffers();
    this.surfaces = new Map(); // target -> canvas and pixels
  }

  keepOnly() {}

  /** Wait until drawing is complete, for measurements: browsers defer it. */
  finish() {
    for (const target of this.surfaces.keys()) target.getContext("2d").getImageData(0, 0, 1, 1);
  }

  draw(jobs) {
    for (const { target, layer, look } of jobs) {
      const context = target.getContext("2d");
      context.setTransform(1, 0, 0, 1, 0, 0);
      if (look.camera) this.cloud(context, target, layer, look);
      else this.image(context, target, layer, look);
    }
  }

  /** Image of a target, and a canvas of the same size. */
  surface(target, width, height) {
    let surface = this.surfaces.get(target);
    if (!surface || surface.image.width !== width || surface.image.height !== height) {
      const canvas = Object.assign(document.createElement("canvas"), { width, height });
      const image = new ImageData(width, height);
      surface = { canvas, image, words: new Int32Array(image.data.buffer) };
      this.surfaces.set(target, surface);
    }
    return surface;
  }

  image(context, target, layer, look) {
    const { left, top, scale } = look.frame;
    const density = Math.min(1, scale);
    const [width, height] = look.size.map((side) => Math.max(1, Math.ceil(side * density)));
    const surface = this.surface(target, width, height);
    surface.words.fill(word(look.ground));
    if (layer) this.paintImage(surface, layer, look, density);
    surface.canvas.getContext("2d").putImageData(surface.image, 0, 0);
    context.fillStyle = `rgb(${look.ground.map((value) => 255 * value).join(" ")})`;
    context.fillRect(0, 0, target.width, target.height);
    context.imageSmoothingEnabled = false;
    const zoom = scale / density;
    if (zoom === 1) context.drawImage(surface.canvas, Math.round(left), Math.round(top));
    else context.drawImage(surface.canvas, left, top, width * zoom, height * zoom);
  }

  paintImage({ image, words }, layer, look, density) {
    const { width, height } = image;
    const n = layer.pixels.length;
    const points = this.buffers.take("points", Int32Array, n);
    const columns = columnsOf(layer, look);
    if (density === 1 && !columns.shiftX) plainPoints(points, columns, width);
    else scaledPoints(points, columns, look.size, width, height, density);
    if (columns.byLayer) {
      const table = flagColors(look);
      if (look.alpha === 1 && look.accumulation !== "fade") solidLayers(words, points, n, layer.flags, table);
      else blendLayers(words, points, n, layer.dt, layer.flags, table, alphaOf(look));
    } else if (look.alpha === 1 && look.accumulation !== "fade") solidPoints(words, points, n, colorsOf(look));
    else blendPoints(words, points, n, layer.dt, colorsOf(look), alphaOf(look));
  }

  cloud(context, target, layer, look) {
    // On high-density screens the cloud has one pixel per CSS pixel.
    const coarse = Math.max(1, Math.floor(devicePixelRatio || 1));
    const [width, height] = [target.width, target.height].map((side) => Math.ceil(side / coarse));
    const surface = this.surface(target, width, height);
    this.paintCloud(surface, layer, { ...look, point: look.point / coarse }, width, height);
    if (coarse === 1) context.putImageData(surface.image, 0, 0);
    else {
      surface.canvas.getContext("2d").putImageData(surface.image, 0, 0);
      context.imageSmoothingEnabled = false;
      context.drawImage(surface.canvas, 0, 0, target.width, target.height);
    }
  }

  paintCloud({ words }, layer, look, width, height) {
    if (layer && look.alpha === 1 && look.accumulation !== "fade") {
      const nearest = this.buffers.take("nearest", Int32Array, width * height);
      clearNearest(nearest);
      const columns = columnsOf(layer, look);
      paintCloud(nearest, columns, look, width, height, null);
      if (columns.byLayer) solidLayerCloud(words, nearest, kindColors(look), word(look.ground));
      else solidCloud(words, nearest, colorsOf(look), word(look.ground));
    } else {
      words.fill(word(look.ground));
      if (layer) paintCloud(words, columnsOf(layer, look), look, width, height, { table: kindColors(look), ...alphaOf(look) });
    }
  }
}
