// The x-y-t cloud: camera, rotation with the mouse, and the box around the events.

import { attachWheel } from "evcrisp/controls/wheel";
import { formatMilliseconds } from "evcrisp/formatting";

/** Projection matrix, column by column, from the box (t right, y up, x toward the viewer) to the canvas. */
export function cameraOf(canvas, state) {
  const [yaw, pitch, distance] = ["yaw", "pitch", "distance"].map((name) => state.get(name));
  const [cy, sy, cp, sp] = [Math.cos(yaw), Math.sin(yaw), Math.cos(pitch), Math.sin(pitch)];
  const turn = [cy, sp * sy, -cp * sy, 0, 0, cp, sp, 0, sy, -sp * cy, cp * cy, 0, 0, 0, -distance, 1];
  const f = 1.9;
  const aspect = canvas.width / canvas.height;
  const wide = aspect > 1 ? f / aspect : f;
  const high = aspect > 1 ? f : f * aspect;
  const [near, far] = [0.05, 20];
  const lens = [wide, 0, 0, 0, 0, high, 0, 0, 0, 0, (far + near) / (near - far), -1, 0, 0, (2 * far * near) / (near - far), 0];
  return multiply(lens, turn);
}

function multiply(a, b) {
  const product = new Float32Array(16);
  for (let column = 0; column < 4; column++) {
    for (let row = 0; row < 4; row++) {
      let sum = 0;
      for (let k = 0; k < 4; k++) sum += a[4 * k + row] * b[4 * column + k];
      product[4 * column + row] = sum;
    }
  }
  return product;
}

function project(canvas, camera, [x, y, z]) {
  const clip = [0, 1, 3].map((row) => camera[row] * x + camera[4 + row] * y + camera[8 + row] * z + camera[12 + row]);
  return [(clip[0] / clip[2] / 2 + 0.5) * canvas.width, (0.5 - clip[1] / clip[2] / 2) * canvas.height];
}

/** Draw the box and its labels over the events. */
export function drawBox(canvas, camera, facts, duration, color, ground) {
  const context = canvas.getContext("2d");
  const ratio = devicePixelRatio || 1;
  const side = Math.max(facts.width, facts.height);
  const [t, y, x] = [0.8, facts.height / side / 2, facts.width / side / 2];
  const corner = (k) => [k & 1 ? t : -t, k & 2 ? y : -y, k & 4 ? x : -x];
  context.strokeStyle = color;
  context.globalAlpha = 0.5;
  context.lineWidth = ratio;
  context.beginPath();
  for (let k = 0; k < 8; k++) {
    for (const bit of [1, 2, 4]) {
      if (k & bit) continue;
      context.moveTo(...project(canvas, camera, corner(k)));
      context.lineTo(...project(canvas, camera, corner(k | bit)));
    }
  }
  context.stroke();
  context.globalAlpha = 1;
  context.fillStyle = color;
  context.strokeStyle = ground;
  context.lineWidth = 3 * ratio;
  context.font = `${11 * ratio}px system-ui, sans-serif`;
  const labels = [
    [`t, ${formatMilliseconds(duration)}`, [0, -y, x], "center", 14],
    [`x, ${facts.width} px`, [t, y, 0], "left", -5],
    [`y, ${facts.height} px`, [-t, 0, -x], "right", 0],
  ];
  for (const [text, place, align, below] of labels) {
    const [left, top] = project(canvas, camera, place);
    const spot = [left + { left: 8, right: -8, center: 0 }[align] * ratio, top + below * ratio];
    context.textAlign = align;
    context.strokeText(text, ...spot);
    context.fillText(text, ...spot);
  }
}

export function attachRotation(canvas, app) {
  const { state } = app;
  let last = null;
  canvas.addEventListener("pointerdown", (event) => {
    last = [event.clientX, event.clientY];
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!last) return;
    const yaw = state.get("yaw") + (event.clientX - last[0]) / 150;
    const pitch = state.get("pitch") + (event.clientY - last[1]) / 150;
    last = [event.clientX, event.clientY];
    state.set({ yaw, pitch: Math.max(-1.57, Math.min(1.57, pitch)) });
  });
  canvas.addEventListener("pointerup", () => (last = null));
  attachWheel(canvas, (event) => {
    const distance = state.get("distance") * Math.exp(event.deltaY / 600);
    state.set({ distance: Math.min(8, Math.max(0.8, distance)) });
  }, () => app.showWheelHint());
  canvas.addEventListener("dblclick", () => state.set({ yaw: 0.65, pitch: 0.35, distance: 2.1 }));
}
