// The viewer: connects state, data and panes.

import { attachRotation } from "evcrisp/drawing/cloud";
import { palette } from "evcrisp/drawing/colors";
import { attachControls, showControls, SPEEDS } from "evcrisp/controls/fields";
import { makeRenderer } from "evcrisp/drawing/renderer";
import { Front } from "evcrisp/panes/front";
import { LayerList } from "evcrisp/panes/layers";
import { attachKeys } from "evcrisp/controls/keys";
import { LruCache } from "evcrisp/data/lru_cache";
import { paintInfo, paintPanes } from "evcrisp/panes/contents";
import { attachView, fitCanvas, Pane } from "evcrisp/panes/pane";
import { State } from "evcrisp/controls/state";
import { paintStatus } from "evcrisp/panes/status";
import { Task } from "evcrisp/data/tasks";
import { Timeline } from "evcrisp/panes/timeline";
import { bestView } from "evcrisp/drawing/cloud";
import { arrangePanes, attachLayouts, hiddenPanes, showPanesMenu } from "evcrisp/controls/layouts";
import { optionsOf, PartOptions } from "evcrisp/controls/part_options";
import { attachRecordings } from "evcrisp/controls/recordings";
import { download, savePicture } from "evcrisp/controls/save";
import { Sensors } from "evcrisp/panes/frame";
import { formatMilliseconds } from "evcrisp/formatting";

const byId = (id) => document.getElementById(id);
const NAMES = ["raw", "aligned", "denoised", "compare", "frame", "contrast", "confidence", "cloud", "layers", "front"];
const IMAGES = ["raw", "aligned", "denoised", "compare", "frame", "contrast", "confidence"];

/** State entries whose change needs other data. */
const DATA_KEYS = ["t", "window", "method", "method_options", "motion", "filter", "filter_options", "front", "point", "points"];

export class App {
  constructor(source, settings, facts) {
    Object.assign(this, { source, settings, facts });
    this.state = new State(settings.start, settings.choices);
    this.renderer = makeRenderer(this.state.get("draw"));
    this.panes = Object.fromEntries(NAMES.map((name) => [name, new Pane(name)]));
    this.shown = { events: null, result: null, compare: null };
    this.wanted = { result: null, compare: null, front: null }; // last requests
    this.sensors = new Sensors(this);
    this.windows = new LruCache(32); // events by start and duration
    this.isPlaying = false;
    this.isFetching = false;
    this.isPainting = false;
    this.error = "";
    this.front = new Front(this.panes.front, this);
    this.layerList = new LayerList(this.panes.layers);
    this.timeline = new Timeline(byId("timeline"), this);
    for (const result of settings.motions ?? []) this.timeline.visit(result);
    this.createTasks();
    this.partOptions = new PartOptions(this);
    attachControls(this);
    attachLayouts(this);
    attachRecordings(this);
    attachKeys(this);
    this.panes.front.onView = () => this.requestFront();
    for (const name of IMAGES) attachView(this.panes[name], this);
    attachRotation(this.panes.cloud.canvas, this);
    this.state.onChange((changed) => this.changed(changed));
    const sizes = new ResizeObserver(() => this.paint());
    for (const element of document.querySelectorAll("#panes, .stage, .timeline")) sizes.observe(element);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.paint());
    this.snap();
    this.layout();
    this.load();
    if (facts.is_complete) this.loadSensors();
  }

  createTasks() {
    const common = { onError: (error) => this.fail(error), onChange: () => this.paint() };
    const task = (onResult) => new Task(this.source, { ...common, onResult });
    this.tasks = {
      estimate: task((result, request) => this.setResult("result", result, request)),
      filter: task((result, request) => this.setResult("compare", result, request)),
      front: task((result, request) => this.setFront(result, request)),
      save: task(({ address }) => {
        download(address, "");
        this.showMessage("The cleaned events are complete; the browser saves them.");
      }),
      track: task((result) => {
        this.timeline.track = result;
        this.paint();
      }),
    };
  }

  // --- state ------------------------------------------------------------------------------

  get theme() {
    return this.state.get("theme") || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  }

  /** Whether the windows are those that the events choose. */
  get isAuto() {
    return this.source.isLive && this.state.get("auto") && this.facts.windows.length > 0;
  }

  /** Number of the chosen window that contains a time, or that is the last one before it. */
  windowAt(t) {
    const { windows } = this.facts;
    let [low, high] = [0, windows.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (windows[middle][0] <= t) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Start and duration of the window to show for a time. */
  place(t) {
    if (this.isAuto) {
      const [start, window] = this.facts.windows[this.windowAt(t)];
      return { t: start, window };
    }
    const start = this.clamp(t);
    return this.source.isLive ? { t: start } : { t: start, window: this.source.durationAt(start) };
  }

  clamp(t) {
    const last = Math.max(0, this.facts.duration_us - this.state.get("window"));
    return this.source.snap(Math.min(Math.max(0, t), last));
  }

  /** Change the state to an available window; the address can hold any window. */
  snap() {
    const { values } = this.state;
    if (this.isAuto) {
      // While the recording is read, the window of a later time is not known yet.
      const [start, duration] = this.facts.windows.at(-1);
      return this.facts.is_complete || values.t < start + duration ? Object.assign(values, this.place(values.t)) : values;
    }
    const duration = this.source.snapDuration(values.window);
    if (duration !== values.window) {
      const [wanted, available] = [[values.window], this.source.durations].map((list) => list.map(formatMilliseconds).join(", "));
      this.showMessage(`This page has no windows of ${wanted}, only of ${available}; the nearest one is shown.`, 15000);
      values.window = duration;
    }
    if (this.facts.is_complete) Object.assign(values, this.place(values.t));
  }

  goTo(t) {
    this.state.set(this.place(t));
  }

  step(n) {
    const { t } = this.state.values;
    if (this.isAuto) {
      const index = Math.min(this.facts.windows.length - 1, Math.max(0, this.windowAt(t) + n));
      return this.goTo(this.facts.windows[index][0]);
    }
    this.goTo(this.source.isLive ? t + n * this.state.get("window") : this.source.neighbor(t, n));
  }

  setWindow(us) {
    if (!this.source.isLive || !(us > 0)) return this.paint();
    const window = Math.round(Math.min(1e7, Math.max(10, us)));
    const middle = this.state.get("t") + this.state.get("window") / 2;
    this.state.set({ window, auto: false });
    this.goTo(middle - window / 2);
  }

  /** Switch between windows that the events choose and windows of the present length. */
  switchAuto() {
    const { t, auto } = this.state.values;
    this.state.set({ auto: !auto });
    this.goTo(t);
  }

  resize(factor) {
    this.setWindow(Number((this.state.get("window") * factor).toPrecision(2)));
  }

  changeSpeed(step) {
    const nearest = SPEEDS.reduce((a, b) => (Math.abs(Math.log(b / this.state.get("speed"))) < Math.abs(Math.log(a / this.state.get("speed"))) ? b : a));
    this.state.set({ speed: SPEEDS[Math.min(SPEEDS.length - 1, Math.max(0, SPEEDS.indexOf(nearest) + step))] });
  }

  switchTheme() {
    this.state.set({ theme: this.theme === "dark" ? "light" : "dark" });
  }

  enlarge(name) {
    const isShown = this.panes[name]?.isShown;
    this.state.set({ large: this.state.get("large") === name || !isShown ? "" : name });
  }

  hidePane(name, isHidden) {
    const hidden = hiddenPanes(this.state);
    hidden[isHidden ? "add" : "delete"](name);
    this.state.set({ hidden: NAMES.filter((pane) => hidden.has(pane)).join(","), ...(isHidden && this.state.get("large") === name ? { large: "" } : {}) });
  }

  savePicture(name) {
    this.paintNow();
    savePicture(this, name);
  }

  /** Clean the whole recording, by the method ("save") or the filter ("save_filtered"), and download the file. */
  saveEvents(kind) {
    this.tasks.save.request({ kind, ...this.methodRequest(), ...this.filterRequest(), duration_us: this.state.get("window") });
  }

  /** True duration of the events of a layer: a window can reach beyond the end of the recording. */
  trueDuration(layer) {
    const { start_us: start = this.state.get("t"), duration_us: duration = this.state.get("window") } = layer ?? {};
    return Math.max(1, Math.min(duration, this.facts.duration_us - start));
  }

  choosePoint(point) {
    this.state.set({ point });
  }

  stepPoint(step) {
    const { data } = this.front;
    if (!data) return;
    const now = this.state.get("point") < 0 ? data.regret_index - step : this.state.get("point");
    this.choosePoint(Math.max(0, Math.min(now + step, data.thetas.length - 1)));
  }

  escape() {
    if (this.isBusy) this.cancel();
    else if (this.state.get("large")) this.state.set({ large: "" });
    else this.choosePoint(-1);
  }

  help() {
    byId("help").showModal();
    byId("help").scrollTop = 0; // the button at its end has the focus
  }

  async copyLink() {
    history.replaceState(null, "", this.state.hash());
    try {
      await navigator.clipboard.writeText(location.href);
      this.showMessage("Link copied. It shows this view.");
    } catch {
      this.showMessage("Copy the address of this page. It shows this view.");
    }
  }

  changed(changed) {
    this.error = "";
    const moved = changed.has("t") || changed.has("window") || changed.has("motion");
    if (moved && this.state.get("point") >= 0 && !changed.has("point")) this.state.values.point = -1;
    for (const kind of ["method", "filter"]) {
      if (changed.has(kind) && !changed.has(`${kind}_options`)) this.state.values[`${kind}_options`] = "";
    }
    if (changed.has("method") || changed.has("method_options")) this.state.values.point = -1;
    if (moved) this.snap();
    this.layout();
    if (DATA_KEYS.some((name) => changed.has(name))) this.load();
    else this.paint();
    if (["large", "layout", "hidden"].some((name) => changed.has(name))) this.requestFront();
  }

  layout() {
    document.documentElement.dataset.theme = this.theme;
    arrangePanes(this);
  }

  // --- data -------------------------------------------------------------------------------

  /** Fetch the events of the window; if it changes meanwhile, also those of the latest one. */
  async load() {
    this.paint();
    this.isOutdated = true;
    if (this.isFetching) return;
    this.isFetching = true;
    while (this.isOutdated) {
      this.isOutdated = false;
      const { t, window } = this.state.values;
      try {
        this.shown.events = await this.eventsAt(t, window);
        this.chooseView();
        this.sensors.update().catch((error) => this.fail(error));
        if (this.facts.is_complete || t + window <= this.facts.duration_us) this.requestResults();
      } catch (error) {
        this.fail(error);
      }
      this.paint();
    }
    this.isFetching = false;
  }

  /** Start the cloud with a view that shows structure, unless the address has a view. */
  chooseView() {
    const { events } = this.shown;
    if (this.hasView || !events.pixels.length) return;
    this.hasView = true;
    const [yaw, pitch] = bestView(events, this.facts, this.trueDuration(events));
    const { start, values } = this.state;
    const isGiven = values.yaw !== start.yaw || values.pitch !== start.pitch;
    this.state.home = { yaw, pitch };
    if (!isGiven) Object.assign(values, { yaw, pitch });
  }

  loadSensors() {
    this.sensors.load().catch((error) => this.fail(error));
  }

  async eventsAt(t, duration) {
    const key = `${t} ${duration}`;
    const known = this.windows.get(key);
    if (known) return known;
    const { windows } = this;
    const events = await this.source.events(t, duration, this.prefetchTime(duration));
    windows.set(key, events); // `this.windows` may be a new cache by now
    return events;
  }

  /** Time after a window that will be played soon, us; 0 if windows hardly overlap. */
  prefetchTime(duration) {
    const perSecond = 1e6 * this.state.get("speed");
    const isGradual = this.isPlaying && this.facts.is_complete && perSecond / 60 < duration / 2;
    return isGradual ? Math.min(Math.ceil(perSecond / 2), 1e7 - duration) : 0; // limit of one request
  }

  methodRequest() {
    const { method, motion } = this.state.values;
    return { method, method_options: optionsOf(this, "method"), motion, windows: this.windowKind };
  }

  filterRequest() {
    const { filter } = this.state.values;
    return filter ? { filter, filter_options: optionsOf(this, "filter") } : {};
  }

  /** Request the results of the window. */
  requestResults() {
    const { t, window, filter, front, point, points } = this.state.values;
    const times = { start_us: t, duration_us: window };
    const common = { ...times, ...this.methodRequest() };
    const isPoint = front && point >= 0;
    this.wanted.result = isPoint ? { kind: "point", ...common, n_points: points, index: point } : { kind: "estimate", ...common };
    this.tasks.estimate.request(this.wanted.result);
    this.wanted.compare = filter ? { kind: "filter", ...times, ...this.filterRequest() } : null;
    if (filter) this.tasks.filter.request(this.wanted.compare);
    this.requestFront();
  }

  /** Request the front, unless its pane is not seen: it takes longer than the other results. */
  requestFront() {
    const { t, window, front, points } = this.state.values;
    clearTimeout(this.frontTimer);
    this.frontTimer = 0;
    this.wanted.front = { kind: "front", start_us: t, duration_us: window, ...this.methodRequest(), n_points: points };
    if (!front) return this.front.set(null);
    if (this.isPlaying || !this.panes.front.isSeen || !this.shown.events) return undefined;
    this.frontTimer = setTimeout(() => {
      this.frontTimer = 0;
      this.tasks.front.request(this.wanted.front);
    }, this.source.isLive ? 250 : 0);
    return undefined;
  }

  /** Store a result with the events of its window. */
  setResult(place, result, request) {
    const events = this.windows.get(`${request.start_us} ${request.duration_us}`);
    if (!events || result.flags.length !== events.pixels.length) return;
    this.shown[place] = { ...result, request, pixels: events.pixels, dt: events.dt, dt_first: events.dt_first };
    if (place === "result") this.timeline.visit(result);
    this.paint();
  }

  setFront(result, request) {
    if (!this.state.get("front") || request.start_us !== this.state.get("t")) return;
    this.front.set(result, request);
    this.paint();
  }

  get windowKind() {
    return this.isAuto ? "auto" : "fixed";
  }

  trackAll() {
    this.tasks.track.request({ kind: "track", duration_us: this.state.get("window"), ...this.methodRequest() });
  }

  cancel() {
    for (const task of Object.values(this.tasks)) task.cancel();
    this.showMessage("Cancelled.");
  }

  get isBusy() {
    return Object.values(this.tasks).some((task) => task.isBusy);
  }

  /** Update the page while the recording is read. */
  async follow() {
    if (this.facts.notes.length) this.showMessage(this.facts.notes.join(" "), 15000);
    while (!this.facts.is_complete) {
      const before = this.facts;
      this.facts = await this.source.facts(before.version);
      if (this.facts.error) this.fail(new Error(this.facts.error));
      if (this.facts.notes.length > before.notes.length) this.showMessage(this.facts.notes.join(" "), 15000);
      const end = this.state.get("t") + this.state.get("window");
      if (this.facts.is_complete) {
        this.goTo(this.state.get("t"));
        this.layout();
        this.loadSensors();
      }
      if (this.facts.is_complete || (before.duration_us < end && this.facts.duration_us > before.duration_us)) this.reload();
      this.paint();
    }
  }

  /** Drop all results and load again, because the recording has grown. */
  reload() {
    this.windows = new LruCache(32);
    for (const task of Object.values(this.tasks)) task.reset();
    this.load();
  }

  // --- playing ----------------------------------------------------------------------------

  play(flag) {
    if (flag === this.isPlaying) return;
    this.isPlaying = flag;
    this.paint();
    if (!flag) return this.load();
    const last = this.facts.duration_us - this.state.get("window");
    if (this.state.get("t") >= last) this.goTo(0);
    this.playhead = this.state.get("t");
    this.lastFrame = performance.now();
    requestAnimationFrame((now) => this.advance(now));
  }

  advance(now) {
    if (!this.isPlaying) return;
    const elapsed = Math.min(now - this.lastFrame, 250);
    const { t, window, speed } = this.state.values;
    const last = this.facts.duration_us - window;
    if (!this.source.isLive) {
      // An exported page shows each window for half a second.
      if (now - this.lastFrame > 500) {
        this.lastFrame = now;
        if (this.source.neighbor(t, 1) === t) return this.play(false);
        this.step(1);
      }
    } else if (!this.isFetching) {
      this.lastFrame = now;
      if (t >= last) return this.play(false);
      // A chosen window is shown until the next one starts.
      const from = this.isAuto && this.windowAt(this.playhead) === this.windowAt(t) ? this.playhead : t;
      this.playhead = from + Math.max(1, elapsed * 1000 * speed);
      this.goTo(this.playhead);
    }
    requestAnimationFrame((next) => this.advance(next));
  }

  // --- painting ---------------------------------------------------------------------------

  paint() {
    if (this.isPainting) return;
    this.isPainting = true;
    requestAnimationFrame(() => {
      this.isPainting = false;
      this.paintNow();
    });
  }

  paintNow() {
    const theme = this.theme;
    document.documentElement.dataset.theme = theme;
    // Read sizes before text changes: a read after a change costs a layout.
    this.fit();
    showControls(this, theme);
    showPanesMenu(this);
    this.partOptions.draw();
    paintInfo(this);
    paintPanes(this, theme);
    this.front.draw(theme);
    this.layerList.draw(this.shown.result, palette(this.state.get("colors"), theme).ground);
    this.timeline.draw(theme);
    paintStatus(this);
    const { events, result, compare } = this.shown;
    this.renderer.keepOnly([events, result, compare].flatMap((layer) => (layer ? [layer.pixels, layer.flags] : [])));
  }

  /** Set the pixel sizes of the canvases. */
  fit() {
    for (const pane of Object.values(this.panes)) {
      if (pane.canvas && pane.isShown && fitCanvas(pane.canvas)) pane.inputs = null;
    }
    fitCanvas(byId("timeline"));
  }

  showMessage(text, duration = 4000) {
    this.message = text;
    clearTimeout(this.messageTimer);
    this.messageTimer = setTimeout(() => {
      this.message = "";
      this.paint();
    }, duration);
    this.paint();
  }

  fail(error) {
    if (error.name === "AbortError") return;
    this.error = error.message;
    this.paint();
  }

  /** Explain how to zoom after the wheel has scrolled. */
  showWheelHint() {
    this.showMessage("Hold Ctrl to zoom with the wheel, or click the pane first.");
  }

  showCursor(x, y) {
    const [column, row] = [Math.floor(x), Math.floor(y)];
    const inside = column >= 0 && row >= 0 && column < this.facts.width && row < this.facts.height;
    byId("cursor").textContent = inside ? `x ${column}, y ${row} px` : "";
  }

  /** For tests and scripts: resolves when all results are drawn. */
  async settled() {
    do {
      await new Promise((resolve) => setTimeout(resolve, 10));
      // Changes of size are reported after the first frame, and painted in the second.
      for (let k = 0; k < 2; k++) await new Promise((resolve) => requestAnimationFrame(resolve));
    } while (this.isBusy || this.isFetching || this.sensors.isFetching || this.isPainting || this.frontTimer || !this.facts.is_complete);
  }
}
