// Choose the renderer of the events: the graphics card, or the processor if there is none.

import { WebglRenderer } from "evcrisp/drawing/webgl_renderer";
import { CpuRenderer } from "evcrisp/drawing/cpu_renderer";

/** Names of WebGL implementations without a graphics card; the CPU renderer is faster. */
const SOFTWARE_WEBGL = /swiftshader|llvmpipe|softpipe|software|basic render/i;

/** Return a renderer: "webgl", "processor", or "" for the faster one. */
export function makeRenderer(name) {
  if (name === "processor") return new CpuRenderer();
  try {
    const renderer = new WebglRenderer();
    return name === "webgl" || !SOFTWARE_WEBGL.test(renderer.name) ? renderer : new CpuRenderer();
  } catch (error) {
    if (name === "webgl") throw error;
    return new CpuRenderer();
  }
}
