// The list of layers: number, velocity, direction, events and box of each.

import { layerPalette } from "evcrisp/drawing/colors";
import { formatCount, formatDoubts, formatNumber, formatUncertain } from "evcrisp/formatting";

/** Whether the window has several motions. */
export function hasLayers(result) {
  return (result?.layers?.length ?? 0) > 1;
}

/** Whether events have the colors of their layers. */
export function isByLayer(state, result) {
  const by = state.get("by");
  return Boolean(result?.layers) && (by === "layer" || (by === "auto" && hasLayers(result)));
}

/** "4 layers; 0: (155, −147) px/s, 1: ⚠ (3, 5) px/s"; of many layers, the range of their speeds. */
export function describeLayers({ layers }) {
  if (layers.length > 3) {
    const speeds = layers.map(({ velocity }) => Math.hypot(...velocity));
    const nDoubtful = layers.filter(({ doubts }) => doubts?.length).length;
    return `${layers.length} layers, ${formatNumber(Math.min(...speeds))} to ${formatNumber(Math.max(...speeds))} px/s${nDoubtful ? `, ⚠ ${nDoubtful} doubtful` : ""}`;
  }
  const parts = layers.map(({ id, velocity, doubts }) => `${id}: ${doubts?.length ? "⚠ " : ""}(${velocity.map(formatNumber).join(", ")}) px/s`);
  return `${layers.length} layers; ${parts.join(", ")}`;
}

function cell(text, name = "") {
  const element = Object.assign(document.createElement("td"), { textContent: text });
  if (name) element.className = name;
  return element;
}

/** "⚠ 433 ± 14, -6 ± 3"; a line breaks only between the numbers. */
function velocityCell(velocity, std, doubts) {
  const isDoubtful = Boolean(doubts?.length);
  const element = cell(isDoubtful ? "⚠ " : "", isDoubtful ? "is-doubtful" : "");
  velocity.forEach((value, k) => {
    const text = `${formatUncertain(value, std?.[k])}${k ? "" : ","}`;
    element.append(k ? " " : "", Object.assign(document.createElement("span"), { className: "part", textContent: text }));
  });
  return element;
}

function row({ id, slot, velocity, std, doubts, box, n_events: count, model }, colors, nSignal) {
  const element = document.createElement("tr");
  element.dataset.layer = id;
  const [left, top, width, height] = box.map(Math.round);
  const place = count ? `${width} × ${height} at (${left}, ${top})` : "";
  const share = nSignal ? `${Math.round((100 * count) / nSignal)} % of the signal` : "no signal";
  element.title = `${formatDoubts({ doubts })}${formatNumber(Math.hypot(...velocity))} px/s, ${share}; box ${place} px; motion model: ${model}`;
  const number = cell(String(id), "layer-id");
  number.style.setProperty("--chip", colors[slot]);
  const arrow = document.createElement("i");
  const angle = Math.atan2(velocity[1], velocity[0]);
  arrow.textContent = "➜";
  arrow.style.setProperty("transform", `rotate(${angle}rad)`);
  arrow.title = `${formatNumber((180 / Math.PI) * angle)}° from the right, clockwise`;
  const direction = cell("", "layer-arrow");
  if (Math.hypot(...velocity) > 0) direction.append(arrow);
  element.append(
    number,
    velocityCell(velocity, std, doubts),
    direction,
    cell(formatCount(count), "layer-count"),
    cell(place, "layer-box"),
  );
  return element;
}

export class LayerList {
  constructor(pane) {
    this.pane = pane;
    this.body = pane.element.querySelector("tbody");
  }

  /** Update the rows if the result or the colors have changed. */
  draw(result, ground) {
    if (this.result === result && this.ground === ground) return;
    Object.assign(this, { result, ground });
    const layers = result?.layers ?? [];
    const { colors } = layerPalette(ground);
    this.body.replaceChildren(...layers.map((layer) => row(layer, colors, result.n_signal)));
    const count = layers.length === 1 ? "one motion" : `${layers.length} motions`;
    this.pane.info(!result ? "" : result.is_good ? count : "no motion");
  }
}
