// The viewer: keeps state, data and panes together.

import { attachTurning } from "evcrisp/drawing/cloud";
import { attachControls, showControls, SPEEDS } from "evcrisp/controls/fields";
import { makeRenderer } from "evcrisp/drawing/renderer";
import { Front } from "evcrisp/panes/front";
import { attachKeys } from "evcrisp/controls/keys";
import { Recent } from "evcrisp/data/lru_cache";
import { paintInfo, paintPanes } from "evcrisp/panes/contents";
import { attachView, fitCanvas, Pane } from "evcrisp/panes/pane";
import { State } from "evcrisp/controls/state";
import { paintStatus } from "evcrisp/panes/status";
import { Task } from "evcrisp/data/tasks";
import { Timeline } from "evcrisp/panes/timeline";
import { milliseconds } from "evcrisp/formatting";

const byId = (id) => document.getElementById(id);
const NAMES = ["raw", "aligned", "denoised", "compare", "contrast", "confidence", "cloud", "front"];
const IMAGES = ["raw", "aligned", "denoised", "compare", "contrast", "confidence"];

/** Changes after which data must be asked for. */
const ASKING = ["t", "window", "method", "motion", "filter", "front", "point", "points"];

export class App {
  constructor(source, settings, facts) {
    Object.assign(this, { source, settings, facts });
    this.state = new State(settings.start, settings.choices);
    this.renderer = makeRenderer(this.state.get("draw"));
    this.panes = Object.fromEntries(NAMES.map((name) => [name, new Pane(name)]));
    this.shown = { events: null, result: null, compare: null };
    this.windows = new Recent(32); // events by place
    this.isPlaying = false;
    this.isFetching = false;
    this.isPainting = false;
    this.error = "";
    this.front = new Front(this.panes.front, this);
    this.timeline = new Timeline(byId("timeline"), this);
    for (const result of settings.motions ?? []) this.timeline.visit(result);
    this.makeTasks();
    attachControls(this);
    attachKeys(this);
    for (const name of IMAGES) attachView(this.panes[name], this);
    attachTurning(this.panes.cloud.canvas, this);
    this.state.onChange((changed) => this.changed(changed));
    new ResizeObserver(() => this.paint()).observe(byId("panes"));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.paint());
    this.snap();
    this.layout();
    this.load();
  }

  makeTasks() {
    const common = { onError: (error) => this.fail(error), onChange: () => this.paint() };
    const task = (onResult) => new Task(this.source, { ...common, onResult });
    this.tasks = {
      estimate: task((result, request) => this.take("result", result, request)),
      filter: task((result, request) => this.take("compare", result, request)),
      front: task((result, request) => this.takeFront(result, request)),
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

  clamp(t) {
    const last = Math.max(0, this.facts.duration_us - this.state.get("window"));
    return this.source.snap(Math.min(Math.max(0, t), last));
  }

  /** Let the state be a window that can be shown; an address may ask for another one. */
  snap() {
    const { values } = this.state;
    const length = this.source.snapLength(values.window);
    if (length !== values.window) {
      const [wanted, there] = [[values.window], this.source.lengths].map((list) => list.map(milliseconds).join(", "));
      this.say(`This page has no windows of ${wanted}, only of ${there}; the nearest is shown.`, 15000);
      values.window = length;
    }
    if (this.facts.is_complete) values.t = this.clamp(values.t);
  }

  goTo(t) {
    this.state.set({ t: this.clamp(t) });
  }

  step(n) {
    const { t } = this.state.values;
    this.goTo(this.source.isLive ? t + n * this.state.get("window") : this.source.neighbor(t, n));
  }

  setWindow(us) {
    if (!this.source.isLive || !(us > 0)) return this.paint();
    const window = Math.round(Math.min(1e7, Math.max(10, us)));
    const middle = this.state.get("t") + this.state.get("window") / 2;
    this.state.set({ window });
    this.goTo(middle - window / 2);
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
  }

  async copyLink() {
    history.replaceState(null, "", this.state.hash());
    try {
      await navigator.clipboard.writeText(location.href);
      this.say("The link is copied: it shows exactly this view.");
    } catch {
      this.say("Copy the address of this page: it shows exactly this view.");
    }
  }

  changed(changed) {
    this.error = "";
    const moved = changed.has("t") || changed.has("window") || changed.has("motion");
    if (moved && this.state.get("point") >= 0 && !changed.has("point")) this.state.values.point = -1;
    if (changed.has("method")) this.state.values.point = -1;
    if (moved) this.snap();
    this.layout();
    if (ASKING.some((name) => changed.has(name))) this.load();
    else this.paint();
  }

  layout() {
    document.documentElement.dataset.theme = this.theme;
    this.panes.compare.element.hidden = !this.state.get("filter");
    for (const pane of Object.values(this.panes)) {
      pane.element.classList.toggle("is-large", this.state.get("large") === pane.name);
    }
  }

  // --- data -------------------------------------------------------------------------------

  /** Fetch the events of the window; when they are there, of the latest one. */
  async load() {
    this.paint();
    this.isWanted = true;
    if (this.isFetching) return;
    this.isFetching = true;
    while (this.isWanted) {
      this.isWanted = false;
      const { t, window } = this.state.values;
      try {
        this.shown.events = await this.eventsAt(t, window);
        if (this.facts.is_complete || t + window <= this.facts.duration_us) this.ask();
      } catch (error) {
        this.fail(error);
      }
      this.paint();
    }
    this.isFetching = false;
  }

  async eventsAt(t, length) {
    const key = `${t} ${length}`;
    const known = this.windows.get(key);
    if (known) return known;
    const { windows } = this;
    const events = await this.source.events(t, length, this.ahead(length));
    windows.set(key, events); // not the present ones if all was asked for again meanwhile
    return events;
  }

  /** How much time after a window will be played soon; 0 where windows hardly overlap. */
  ahead(length) {
    const perSecond = 1e6 * this.state.get("speed");
    const isGradual = this.isPlaying && this.facts.is_complete && perSecond / 60 < length / 2;
    return isGradual ? Math.min(Math.ceil(perSecond / 2), 1e7 - length) : 0; // no more is given out at once
  }

  /** Ask for what is computed of the window. */
  ask() {
    const { t, window, method, motion, filter, front, point, points } = this.state.values;
    const common = { start_us: t, length_us: window, motion };
    if (front && point >= 0) this.tasks.estimate.want({ kind: "point", ...common, points, index: point });
    else this.tasks.estimate.want({ kind: "estimate", ...common, method });
    if (filter) this.tasks.filter.want({ kind: "filter", start_us: t, length_us: window, filter });
    clearTimeout(this.frontTimer);
    if (!front) this.front.set(null);
    else if (!this.isPlaying) {
      this.frontTimer = setTimeout(() => {
        this.frontTimer = 0;
        this.tasks.front.want({ kind: "front", ...common, points });
      }, this.source.isLive ? 250 : 0);
    }
  }

  /** Put a result beside the events that it is about. */
  take(place, result, request) {
    const events = this.windows.get(`${request.start_us} ${request.length_us}`);
    if (!events || result.flags.length !== events.pixels.length) return;
    this.shown[place] = { ...result, pixels: events.pixels, dt: events.dt, dt_first: events.dt_first };
    if (place === "result") this.timeline.visit(result);
    this.paint();
  }

  takeFront(result, request) {
    if (!this.state.get("front") || request.start_us !== this.state.get("t")) return;
    this.front.set(result);
    this.paint();
  }

  trackAll() {
    const { window, method, motion } = this.state.values;
    this.tasks.track.want({ kind: "track", length_us: window, method, motion });
  }

  cancel() {
    for (const task of Object.values(this.tasks)) task.cancel();
    this.say("Cancelled.");
  }

  get isBusy() {
    return Object.values(this.tasks).some((task) => task.isBusy);
  }

  /** Follow the reading of the recording. */
  async follow() {
    if (this.facts.notes.length) this.say(this.facts.notes.join(" "), 15000);
    while (!this.facts.is_complete) {
      const before = this.facts;
      this.facts = await this.source.facts(before.version);
      if (this.facts.error) this.fail(new Error(this.facts.error));
      if (this.facts.notes.length > before.notes.length) this.say(this.facts.notes.join(" "), 15000);
      const end = this.state.get("t") + this.state.get("window");
      if (this.facts.is_complete) this.goTo(this.state.get("t"));
      if (this.facts.is_complete || (before.duration_us < end && this.facts.duration_us > before.duration_us)) this.loadAgain();
      this.paint();
    }
  }

  /** The recording has grown: nothing that was asked for before counts. */
  loadAgain() {
    this.windows = new Recent(32);
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
    this.lastFrame = performance.now();
    requestAnimationFrame((now) => this.advance(now));
  }

  advance(now) {
    if (!this.isPlaying) return;
    const elapsed = Math.min(now - this.lastFrame, 250);
    const { t, window, speed } = this.state.values;
    const last = this.facts.duration_us - window;
    if (!this.source.isLive) {
      // Windows that are there are shown for half a second each.
      if (now - this.lastFrame > 500) {
        this.lastFrame = now;
        if (this.source.neighbor(t, 1) === t) return this.play(false);
        this.step(1);
      }
    } else if (!this.isFetching) {
      this.lastFrame = now;
      if (t >= last) return this.play(false);
      this.goTo(t + Math.max(1, elapsed * 1000 * speed));
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
    // Sizes are read before words are written: the other way round, each reading costs a layout.
    this.fit();
    showControls(this, theme);
    paintInfo(this);
    paintPanes(this, theme);
    this.front.draw(theme);
    this.timeline.draw(theme);
    paintStatus(this);
    const { events, result, compare } = this.shown;
    this.renderer.keepOnly([events, result, compare].flatMap((layer) => (layer ? [layer.pixels, layer.flags] : [])));
  }

  /** Let canvases have the size that they cover. */
  fit() {
    const large = this.state.get("large");
    for (const pane of Object.values(this.panes)) {
      pane.isCovered = Boolean(large) && pane.name !== large;
      if (pane.isShown && fitCanvas(pane.canvas)) pane.inputs = null;
    }
    fitCanvas(byId("timeline"));
  }

  say(text, duration = 4000) {
    this.message = text;
    clearTimeout(this.sayTimer);
    this.sayTimer = setTimeout(() => {
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

  /** The wheel has scrolled, where somebody may have wanted to zoom. */
  tellOfWheel() {
    this.say("Ctrl and the wheel zoom; so does the wheel alone after a click on the pane.");
  }

  showCursor(x, y) {
    const [column, row] = [Math.floor(x), Math.floor(y)];
    const inside = column >= 0 && row >= 0 && column < this.facts.width && row < this.facts.height;
    byId("cursor").textContent = inside ? `x ${column}, y ${row} px` : "";
  }

  /** For tests and scripts: resolves when nothing is left to do, and all is painted. */
  async settled() {
    do {
      await new Promise((resolve) => setTimeout(resolve, 10));
      await new Promise((resolve) => requestAnimationFrame(resolve));
    } while (this.isBusy || this.isFetching || this.isPainting || this.frontTimer || !this.facts.is_complete);
  }
}
