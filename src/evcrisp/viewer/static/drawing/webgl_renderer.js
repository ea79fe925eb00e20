// Draw events as points with WebGL. All panes are drawn side by side on one WebGL canvas and then copied, because reading
// pixels from WebGL is expensive and should happen once per frame.

const VERTEX = `#version 300 es
precision highp float;
precision highp int;
layout(location = 0) in uint a_pixel;
layout(location = 1) in uint a_dt;
layout(location = 2) in float a_shift_x;
layout(location = 3) in uint a_flags;
layout(location = 4) in float a_shift_y;
uniform vec2 u_size;
uniform uint u_first;
uniform float u_duration;
uniform bool u_is_aligned;
uniform bool u_by_label;
uniform bool u_by_layer;
uniform vec3 u_layers[10];
uniform bool u_is_cloud;
uniform int u_show;
uniform vec4 u_view;
uniform mat4 u_camera;
uniform float u_point;
uniform vec3 u_on, u_off, u_signal, u_noise;
uniform float u_alpha, u_oldest;
out vec4 v_color;

void main() {
  bool is_on = (a_pixel & 0x40000000u) != 0u;
  bool is_signal = (a_flags & 1u) != 0u;
  vec2 place = vec2(float(a_pixel & 0x7fffu), float((a_pixel >> 15) & 0x7fffu));
  if (u_is_aligned) place += (2.0 * vec2(a_shift_x, a_shift_y) - 1.0) * u_size;
  float age = float(a_dt - u_first) / u_duration;
  vec3 color = u_by_label ? (is_signal ? u_signal : u_noise) : (is_on ? u_on : u_off);
  if (u_by_layer) color = is_signal ? u_layers[(a_flags >> 1) % 10u] : u_noise;
  v_color = vec4(color, u_alpha * mix(u_oldest, 1.0, age));
  gl_PointSize = u_point;
  if (u_is_cloud) {
    float side = max(u_size.x, u_size.y);
    vec2 centered = (place + 0.5 - 0.5 * u_size) / side;
    gl_Position = u_camera * vec4((age - 0.5) * 1.6, -centered.y, centered.x, 1.0);
    gl_PointSize = max(1.0, u_point / gl_Position.w);
  } else {
    gl_Position = vec4((place + 0.5) * u_view.xy + u_view.zw, 0.0, 1.0);
  }
  if ((u_show == 1 && !is_signal) || (u_show == 2 && is_signal)) gl_Position = vec4(4.0, 4.0, 4.0, 1.0);
}`;

const FRAGMENT = `#version 300 es
precision mediump float;
in vec4 v_color;
out vec4 color;
void main() { color = v_color; }`;

const SHOW = { all: 0, signal: 1, noise: 2 };

/** Positions of the canvases side by side, in rows of moderate width. */
function arrange(jobs) {
  const limit = Math.max(2048, ...jobs.map(({ target }) => target.width));
  let [x, y, row, width] = [0, 0, 0, 0];
  const places = jobs.map(({ target }) => {
    if (x + target.width > limit) [x, y, row] = [0, y + row, 0];
    const place = [x, y];
    x += target.width;
    width = Math.max(width, x);
    row = Math.max(row, target.height);
    return place;
  });
  return { places, width, height: y + row };
}

export class WebglRenderer {
  constructor() {
    this.canvas = document.createElement("canvas");
    this.copy = document.createElement("canvas");
    this.gl = this.canvas.getContext("webgl2", { antialias: false, alpha: false, depth: true });
    if (!this.gl) throw new Error("This browser does not support WebGL 2.");
    this.isLost = false;
    this.canvas.addEventListener("webglcontextlost", (event) => {
      event.preventDefault();
      this.isLost = true;
    });
    this.canvas.addEventListener("webglcontextrestored", () => location.reload());
    this.program = this.build();
    this.uniforms = new Map();
    this.buffers = new Map(); // bytes -> buffer on the graphics card
  }

  /** Name of the graphics card. */
  get name() {
    const extension = this.gl.getExtension("WEBGL_debug_renderer_info");
    return this.gl.getParameter(extension ? extension.UNMASKED_RENDERER_WEBGL : this.gl.RENDERER);
  }

  /** Wait until drawing is complete, for measurements. */
  finish() {
    const { gl } = this;
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
  }

  build() {
    const { gl } = this;
    const program = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) {
      throw new Error(`The graphics card rejected the shader program: ${gl.getProgramInfoLog(program)}`);
    }
    return program;
  }

  uniform(name) {
    if (!this.uniforms.has(name)) this.uniforms.set(name, this.gl.getUniformLocation(this.program, name));
    return this.uniforms.get(name);
  }

  /** Buffer on the graphics card; all arrays of a bundle share its bytes, which are uploaded once. */
  buffer({ buffer: bytes }) {
    const { gl } = this;
    let buffer = this.buffers.get(bytes);
    if (buffer) return buffer;
    buffer = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ARRAY_BUFFER, bytes, gl.STATIC_DRAW);
    this.buffers.set(bytes, buffer);
    return buffer;
  }

  /** Delete all buffers except those of these arrays. */
  keepOnly(arrays) {
    const wanted = new Set(arrays.map((array) => array?.buffer));
    for (const [bytes, buffer] of this.buffers) {
      if (wanted.has(bytes)) continue;
      this.gl.deleteBuffer(buffer);
      this.buffers.delete(bytes);
    }
  }

  bind(location, array, size, type, normalized) {
    const { gl } = this;
    if (!array) {
      gl.disableVertexAttribArray(location);
      if (location === 3) gl.vertexAttribI4ui(location, 1, 0, 0, 0);
      else gl.vertexAttrib4f(location, 0, 0, 0, 1);
      return;
    }
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffer(array));
    gl.enableVertexAttribArray(location);
    if (normalized) gl.vertexAttribPointer(location, size, type, true, 0, array.byteOffset);
    else gl.vertexAttribIPointer(location, size, type, 0, array.byteOffset);
  }

  /** Draw layers of events on canvases: a list of { target, layer, look }. */
  draw(jobs) {
    if (this.isLost || !jobs.length) return;
    const { gl } = this;
    const { places, width, height } = arrange(jobs);
    if (this.canvas.width < width || this.canvas.height < height) {
      this.canvas.width = Math.max(this.canvas.width, width);
      this.canvas.height = Math.max(this.canvas.height, height);
    }
    gl.enable(gl.SCISSOR_TEST);
    jobs.forEach(({ target, layer, look }, k) => {
      const [x, y] = places[k];
      gl.viewport(x, y, target.width, target.height);
      gl.scissor(x, y, target.width, target.height);
      gl.clearColor(...look.ground, 1);
      gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
      if (layer && layer.pixels.length) this.points(layer, look);
    });
    const top = this.canvas.height - height; // WebGL counts rows from the bottom
    if (this.copy.width < width || this.copy.height < height) {
      this.copy.width = Math.max(this.copy.width, width);
      this.copy.height = Math.max(this.copy.height, height);
    }
    this.copy.getContext("2d").drawImage(this.canvas, 0, top, width, height, 0, 0, width, height);
    jobs.forEach(({ target }, k) => {
      const [x, y] = places[k];
      const context = target.getContext("2d");
      context.setTransform(1, 0, 0, 1, 0, 0);
      const row = height - y - target.height;
      context.drawImage(this.copy, x, row, target.width, target.height, 0, 0, target.width, target.height);
    });
  }

  points(layer, look) {
    const { gl } = this;
    gl.useProgram(this.program);
    this.bind(0, layer.pixels, 1, gl.UNSIGNED_INT, false);
    this.bind(1, layer.dt, 1, gl.UNSIGNED_INT, false);
    this.bind(2, layer.shift_x, 1, gl.UNSIGNED_SHORT, true);
    this.bind(4, layer.shift_y, 1, gl.UNSIGNED_SHORT, true);
    this.bind(3, layer.flags, 1, gl.UNSIGNED_BYTE, false);
    gl.uniform2f(this.uniform("u_size"), ...look.size);
    gl.uniform1ui(this.uniform("u_first"), look.first);
    gl.uniform1f(this.uniform("u_duration"), look.duration);
    gl.uniform1i(this.uniform("u_is_aligned"), look.isAligned && layer.shift_x ? 1 : 0);
    gl.uniform1i(this.uniform("u_by_label"), look.byLabel ? 1 : 0);
    gl.uniform1i(this.uniform("u_by_layer"), look.byLayer && layer.flags ? 1 : 0);
    if (look.byLayer) gl.uniform3fv(this.uniform("u_layers"), look.layers.flat());
    gl.uniform1i(this.uniform("u_is_cloud"), look.camera ? 1 : 0);
    gl.uniform1i(this.uniform("u_show"), layer.flags ? SHOW[look.show] : 0);
    if (look.camera) gl.uniformMatrix4fv(this.uniform("u_camera"), false, look.camera);
    else gl.uniform4f(this.uniform("u_view"), ...look.view);
    gl.uniform1f(this.uniform("u_point"), look.point);
    for (const name of ["on", "off", "signal", "noise"]) gl.uniform3f(this.uniform(`u_${name}`), ...look[name]);
    gl.uniform1f(this.uniform("u_alpha"), look.alpha);
    gl.uniform1f(this.uniform("u_oldest"), look.accumulation === "fade" ? 0.05 : 1);
    const isBlended = look.alpha < 1 || look.accumulation === "fade";
    gl[isBlended ? "enable" : "disable"](gl.BLEND);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    gl[look.camera && !isBlended ? "enable" : "disable"](gl.DEPTH_TEST);
    gl.drawArrays(gl.POINTS, 0, layer.pixels.length);
  }
}
