// Save pictures of panes, and the events that a method or a filter keeps.

import { styleColor } from "evcrisp/drawing/colors";

const MARGIN = 8;
const LINE = 16;

/** Offer data or an address of the server as a download. */
export function download(address, name) {
  const link = Object.assign(document.createElement("a"), { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
}

/** Lines of a text that fit into a width. */
function wrapped(context, text, width) {
  const lines = [""];
  for (const word of text.split(" ")) {
    const longer = lines.at(-1) ? `${lines.at(-1)} ${word}` : word;
    if (context.measureText(longer).width <= width || !lines.at(-1)) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

/** Text of a pane: title, information, and key. */
function textOf(pane) {
  const parts = [pane.title.textContent, pane.infoElement.textContent, pane.keyText];
  return parts.filter(Boolean).join("  ·  ");
}

/** Draw a pane with its text at a place; return its height. */
function drawPane(context, pane, x, y, ratio, ink) {
  const { canvas } = pane;
  context.fillStyle = ink;
  const lines = wrapped(context, textOf(pane), canvas.width);
  lines.forEach((line, k) => context.fillText(line, x, y + (k + 0.8) * LINE * ratio));
  context.drawImage(canvas, x, y + lines.length * LINE * ratio);
  return lines.length * LINE * ratio + canvas.height;
}

/** Picture of panes, in rows as on the page. */
export function pictureOf(app, panes) {
  const ratio = devicePixelRatio || 1;
  const sheet = document.createElement("canvas");
  const boxes = panes.map((pane) => pane.element.getBoundingClientRect());
  const left = Math.min(...boxes.map((box) => box.left));
  const top = Math.min(...boxes.map((box) => box.top));
  const size = (side) => Math.ceil(Math.max(...boxes.map((box) => box[side])) * ratio);
  // Texts can be longer than on the page, where they are smaller.
  sheet.width = size("right") - left * ratio + 2 * MARGIN * ratio;
  sheet.height = size("bottom") - top * ratio + 6 * LINE * ratio;
  const context = sheet.getContext("2d");
  context.fillStyle = styleColor("ground", app.theme);
  context.fillRect(0, 0, sheet.width, sheet.height);
  context.font = `${12 * ratio}px system-ui, sans-serif`;
  const ink = styleColor("text", app.theme);
  panes.forEach((pane, k) => drawPane(context, pane, (boxes[k].left - left + MARGIN) * ratio, (boxes[k].top - top + MARGIN) * ratio, ratio, ink));
  context.fillStyle = styleColor("quiet", app.theme);
  context.fillText(`${app.facts.name}, from ${app.state.get("t")} us, window ${app.state.get("window")} us, ${app.state.get("method")}`, MARGIN * ratio, sheet.height - 0.4 * LINE * ratio);
  return sheet;
}

/** Name of a picture: recording, pane and time. */
function fileName(app, pane) {
  const stem = app.facts.name.replace(/\.[^.]*$/, "").replace(/[^\w.-]+/g, "_");
  return `${stem}-${pane}-${app.state.get("t")}us.png`;
}

/** Save a pane, or all shown panes for "". */
export function savePicture(app, name) {
  const hasPicture = (pane) => pane.canvas && pane.isShown && !pane.isCovered && (pane.name !== "front" || app.front.data);
  const panes = Object.values(app.panes).filter((pane) => (name ? pane.name === name : hasPicture(pane)));
  if (!panes.length) return app.showMessage("No pane with a picture is shown.");
  const sheet = pictureOf(app, panes);
  return sheet.toBlob((blob) => {
    if (!blob) return app.fail(new Error(`The browser cannot make a picture of ${sheet.width} × ${sheet.height} px. Hide panes, or make the window smaller.`));
    const address = URL.createObjectURL(blob);
    download(address, fileName(app, name || "panes"));
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
    return app.showMessage(`Saved a picture of ${panes.length === 1 ? "the pane" : `${panes.length} panes`}, ${sheet.width} × ${sheet.height} px.`);
  });
}
