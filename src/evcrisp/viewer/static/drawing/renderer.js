// Who draws the events: the graphics card, or the processor where there is none.

import { Renderer } from "evcrisp/drawing/webgl_renderer";
import { Raster } from "evcrisp/drawing/cpu_renderer";

const IMITATION = /swiftshader|llvmpipe|softpipe|software|basic render/i;

/** "webgl", "processor", or "" for whatever is faster here. */
export function makeRenderer(wish) {
  if (wish === "processor") return new Raster();
  try {
    const renderer = new Renderer();
    return wish === "webgl" || !IMITATION.test(renderer.name) ? renderer : new Raster();
  } catch (error) {
    if (wish === "webgl") throw error;
    return new Raster();
  }
}
