// Format numbers with units as text.

const grouped = new Intl.NumberFormat("en-US");

export function formatCount(n) {
  return grouped.format(n);
}

/** 1234567 -> "1.23 M" */
export function formatCompact(n) {
  const size = Math.abs(n);
  if (size >= 1e9) return `${(n / 1e9).toPrecision(3)} G`;
  if (size >= 1e6) return `${(n / 1e6).toPrecision(3)} M`;
  if (size >= 1e4) return `${(n / 1e3).toPrecision(3)} k`;
  return grouped.format(Number(n.toPrecision(3)));
}

export function formatSeconds(us, digits = 3) {
  return `${(us / 1e6).toFixed(digits)} s`;
}

export function formatMilliseconds(us) {
  return `${Number((us / 1e3).toPrecision(4))} ms`;
}

/** 8802 -> "8.8 ms", 1500000 -> "1.5 s": the true length, rounded to three digits at most. */
export function formatDuration(us) {
  if (us >= 1e6) return `${Number((us / 1e6).toPrecision(4))} s`;
  if (us < 1e3) return `${Math.round(us)} µs`;
  return `${Number((us / 1e3).toPrecision(us < 1e4 ? 2 : 3))} ms`;
}

/** A time and the length of the recording, in the unit of the length. */
export function formatClock(us, totalUs) {
  const inSeconds = totalUs >= 2e6;
  const text = inSeconds ? (us / 1e6).toFixed(3) : (us / 1e3).toFixed(totalUs < 1e5 ? 2 : 1);
  return `${text} ${inSeconds ? "s" : "ms"} of ${formatDuration(totalUs)}`;
}

export function formatNumber(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 100) return grouped.format(Math.round(value));
  return size >= 1e-3 ? String(Number(value.toPrecision(3))) : value.toExponential(1);
}

export function formatPercent(share) {
  return `${(100 * share).toFixed(share > 0.995 || share < 0.1 ? 1 : 0)} %`;
}

/** 1364 and a standard deviation of 8 -> "1,364 ± 16": the interval of 95 %. */
export function formatUncertain(value, std) {
  if (std === undefined || std === null) return formatNumber(value);
  return `${formatNumber(value)} ± ${formatNumber(Number((1.96 * std).toPrecision(2)))}`;
}

/** "vx 1,364 ± 16 px/s, vy 186 ± 12 px/s"; with a center, "w 2.0 ± 0.1 rad/s, about (214, 205) px" */
export function formatMotion({ names, units, theta, std, center }) {
  // Parameters that are exactly 0 belong to a simpler motion.
  const told = names.map((_, k) => k).filter((k) => theta[k] !== 0 || (std?.[k] ?? 1) > 0);
  const parts = told.map((k) => `${names[k]} ${formatUncertain(theta[k], std?.[k])} ${units[k]}`);
  if (center) parts.push(`about (${center.map((value) => Math.round(value)).join(", ")}) px`);
  return parts.join(", ");
}

/** "⚠ aperture, at rest: " before a motion that is doubtful; nothing before others. */
export function formatDoubts({ doubts }) {
  return doubts?.length ? `⚠ ${doubts.map((code) => code.replaceAll("_", " ")).join(", ")}: ` : "";
}
