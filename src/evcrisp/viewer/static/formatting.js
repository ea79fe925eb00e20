// Numbers as people read them, with units.

const plain = new Intl.NumberFormat("en-US");

export function count(n) {
  return plain.format(n);
}

/** 1234567 -> "1.23 M" */
export function short(n) {
  const size = Math.abs(n);
  if (size >= 1e9) return `${(n / 1e9).toPrecision(3)} G`;
  if (size >= 1e6) return `${(n / 1e6).toPrecision(3)} M`;
  if (size >= 1e4) return `${(n / 1e3).toPrecision(3)} k`;
  return plain.format(Number(n.toPrecision(3)));
}

export function seconds(us, digits = 3) {
  return `${(us / 1e6).toFixed(digits)} s`;
}

export function milliseconds(us) {
  return `${Number((us / 1e3).toPrecision(4))} ms`;
}

export function number(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 100) return plain.format(Math.round(value));
  return size >= 1e-3 ? String(Number(value.toPrecision(3))) : value.toExponential(1);
}

export function percent(share) {
  return `${(100 * share).toFixed(share > 0.995 || share < 0.1 ? 1 : 0)} %`;
}

/** "vx 1,364 px/s, vy 186 px/s" */
export function motion({ names, units, theta }) {
  return names.map((name, k) => `${name} ${number(theta[k])} ${units[k]}`).join(", ");
}
