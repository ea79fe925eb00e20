// Texts about the recording, running computations and errors.

import { formatClock, formatCompact, formatCount, formatDuration } from "evcrisp/formatting";

const byId = (id) => document.getElementById(id);

/** Set a text only if it differs, because each change costs a layout. */
function write(id, text) {
  const element = byId(id);
  if (element.textContent !== text) element.textContent = text;
}

export function paintStatus(app) {
  const { facts, state } = app;
  write("name", facts.name);
  byId("name").title = facts.name; // long names are cut
  const parts = [facts.format, `${facts.width} × ${facts.height} px`, `${formatCount(facts.n_events)} events`, formatDuration(facts.duration_us)];
  if (facts.has_labels) parts.push("true labels known");
  write("facts", parts.filter(Boolean).join("  ·  "));
  byId("facts").title = byId("facts").textContent;
  write("clock", formatClock(state.get("t"), facts.duration_us));
  byId("front-empty").hidden = Boolean(app.front.data) || state.get("front");
  app.panes.front.info(frontInfo(app));
  byId("front-caption").hidden = !app.front.data;
  write("front-own", ownText(app.front.data));
  const message = byId("message");
  const text = statusText(app);
  message.classList.toggle("is-error", Boolean(app.error));
  message.classList.toggle("is-doubtful", !app.error && text.startsWith("⚠"));
  write("message", app.error || text);
  if (message.title !== message.textContent) message.title = message.textContent; // long ones are cut
  const busy = Object.entries(app.tasks).filter(([, task]) => task.isBusy && performance.now() - task.running.since > 150);
  clearTimeout(app.statusTimer); // the texts also change with time
  if (app.isBusy) app.statusTimer = setTimeout(() => app.paint(), busy.length ? 1000 : 160);
  const isReading = !facts.is_complete;
  byId("busy").hidden = !busy.length && !isReading;
  byId("track").disabled = isReading;
  byId("cancel").hidden = !busy.length;
  const share = busy.length ? busy[0][1].share : facts.share;
  if (share === null || share === undefined) byId("progress").removeAttribute("value");
  else byId("progress").value = share;
  const isSlow = busy.some(([, task]) => task.share === null && performance.now() - task.running.since > 4000);
  const hint = isSlow ? " The first computation takes longer, because code is compiled." : "";
  const names = { estimate: "motion and labels", filter: "filter", front: "Pareto front", track: "motion over time", save: "the cleaned events" };
  write("busy-text", busy.length ? `Computing ${busy.map(([name]) => names[name]).join(", ")}…${hint}` : `Reading, ${formatCompact(facts.n_events)} events…`);
}

function frontInfo(app) {
  const { data } = app.front;
  if (!app.state.get("front")) return "";
  if (!data) return app.isPlaying ? "paused while playing" : app.tasks.front.isBusy || app.frontTimer ? "tracing…" : "not traced yet";
  const point = app.state.get("point");
  if (point < 0) return `${data.thetas.length} points; click one`;
  return app.front.describe(Math.min(point, data.thetas.length - 1)).split("\n").slice(0, 3).join("; ");
}

/** What the diamond is. */
function ownText(data) {
  if (!data?.own) return "";
  const { method } = data.own;
  const isStated = ["exact", "paper"].includes(method);
  return `◆ ${method}; the front ${isStated ? "has its constants" : `keeps as many events as ${method}`}.`;
}

function statusText(app) {
  const { facts, shown } = app;
  if (app.message) return app.message;
  if (!facts.n_events) return facts.is_complete ? "This recording has no events." : "Reading…";
  if (shown.result?.warnings?.length) return `⚠ ${shown.result.warnings[0]}`;
  const events = shown.events ? `${formatCount(shown.events.n_events)} events in ${formatDuration(app.trueDuration(shown.events))}` : "";
  return `${events}. Press Space to play, ← → to step, ? for all keys.`;
}
