// Colors of events and maps, for light and dark pages.

const PALETTES = {
  "red-blue": {
    light: { ground: "#ffffff", on: "#d62728", off: "#1f5fd0", signal: "#0f8a4b", noise: "#d81b9a" },
    dark: { ground: "#0b0e13", on: "#ff5a52", off: "#4aa3ff", signal: "#3ddc84", noise: "#e645c0" },
  },
  "white-black": {
    light: { ground: "#808080", on: "#ffffff", off: "#000000", signal: "#ffffff", noise: "#d0006f" },
    dark: { ground: "#808080", on: "#ffffff", off: "#000000", signal: "#ffffff", noise: "#d0006f" },
  },
  // Colors of Okabe and Ito, which are distinct with every kind of color vision.
  safe: {
    light: { ground: "#ffffff", on: "#d55e00", off: "#0072b2", signal: "#0072b2", noise: "#e69f00" },
    dark: { ground: "#0b0e13", on: "#e69f00", off: "#56b4e9", signal: "#56b4e9", noise: "#e69f00" },
  },
};

/** Colors of layers by the ground, as in evcrisp/core/palettes.py: distinct with every kind of color vision. */
const LAYERS = {
  "#ffffff": { noise: "#bebebe", colors: ["#0303cc", "#36ef5b", "#f676ff", "#790200", "#dd1673", "#9e35fe", "#1e83b0", "#601180", "#bf8412", "#556b00"] },
  "#0b0e13": { noise: "#5a6069", colors: ["#12c7eb", "#aa1900", "#3748fe", "#ffff34", "#f56f83", "#9effe7", "#adc823", "#9b80ff", "#cf06b0", "#20a103"] },
  "#808080": { noise: "#a0a0a0", colors: ["#f7f600", "#1e0067", "#1582ff", "#e43804", "#651501", "#80fff4", "#0c03e6", "#990094", "#fb94ff", "#41d20d"] },
};

export function layerPalette(ground) {
  return LAYERS[ground] ?? LAYERS["#ffffff"];
}

/** Color of a velocity, 0 to 255, as in evcrisp/core/flow_colors.py: the hue is the direction, the saturation the speed. */
export function flowColor(vx, vy, top) {
  const saturation = Math.min(1, Math.hypot(vx, vy) / top);
  const turns = Math.atan2(vy, vx) / (2 * Math.PI);
  return [0, 1, 2].map((k) => {
    const offset = turns - k / 3 + 0.5;
    const distance = Math.abs(offset - Math.floor(offset) - 0.5);
    return Math.round(255 * (1 - saturation * (1 - Math.min(1, Math.max(0, 2 - 6 * distance)))));
  });
}

const RAMPS = {
  light: ["#ffffff", "#d5dcea", "#94aed3", "#4f78b8", "#253f83", "#0c1233"],
  dark: ["#0b0e13", "#3b1361", "#8c2369", "#dd513a", "#fba40a", "#fcffa4"],
};

export const LINES = {
  light: ["#0b6bcb", "#c2410c", "#15803d", "#7e22ce", "#a16207", "#be123c", "#0e7490", "#4b5563"],
  dark: ["#4aa3ff", "#ff9b52", "#3ddc84", "#c792ff", "#f3c969", "#ff6f91", "#56d4e8", "#aab4c0"],
};

export function palette(name, theme) {
  return (PALETTES[name] ?? PALETTES["red-blue"])[theme];
}

export const paletteNames = Object.keys(PALETTES);

/** Red, green, blue, 0 to 1. */
export function rgb(hex) {
  return [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16) / 255);
}

const styleColors = new Map();

/** A color of the style sheet, cached because a read from the browser costs a layout. */
export function styleColor(name, theme) {
  const key = `${name} ${theme}`;
  if (!styleColors.has(key)) styleColors.set(key, getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim());
  return styleColors.get(key);
}

const ramps = {};

/** Color map of 256 colors as bytes r, g, b, a. */
export function ramp(theme) {
  if (ramps[theme]) return ramps[theme];
  const stops = RAMPS[theme].map(rgb);
  const bytes = new Uint8ClampedArray(1024);
  for (let k = 0; k < 256; k++) {
    const place = (k / 255) * (stops.length - 1);
    const first = Math.min(Math.floor(place), stops.length - 2);
    for (let c = 0; c < 3; c++) {
      bytes[4 * k + c] = 255 * (stops[first][c] + (place - first) * (stops[first + 1][c] - stops[first][c]));
    }
    bytes[4 * k + 3] = 255;
  }
  return (ramps[theme] = bytes);
}
