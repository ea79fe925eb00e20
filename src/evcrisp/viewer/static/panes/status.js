// Lines of words: what the recording is, what is going on, what went wrong.

import { count, milliseconds, seconds, short } from "evcrisp/formatting";

const byId = (id) => document.getElementById(id);

/** Texts that stay are not set again, which would cost a layout. */
function write(id, text) {
  const element = byId(id);
  if (element.textContent !== text) element.textContent = text;
}

export function paintStatus(app) {
  const { facts, state } = app;
  write("name", facts.name);
  const parts = [facts.format, `${facts.width} × ${facts.height} px`, `${count(facts.n_events)} events`, seconds(facts.duration_us)];
  if (facts.has_labels) parts.push("true labels known");
  write("facts", parts.filter(Boolean).join("  ·  "));
  write("clock", `${seconds(state.get("t"), 4)} of ${seconds(facts.duration_us)}`);
  byId("front-empty").hidden = Boolean(app.front.data) || state.get("front");
  app.panes.front.info(frontInfo(app));
  const message = byId("message");
  message.classList.toggle("is-error", Boolean(app.error));
  write("message", app.error || words(app));
  const busy = Object.entries(app.tasks).filter(([, task]) => task.isBusy && performance.now() - task.running.since > 150);
  clearTimeout(app.statusTimer); // the words change with time, too
  if (app.isBusy) app.statusTimer = setTimeout(() => app.paint(), busy.length ? 1000 : 160);
  const isReading = !facts.is_complete;
  byId("busy").hidden = !busy.length && !isReading;
  byId("track").disabled = isReading;
  byId("cancel").hidden = !busy.length;
  const share = busy.length ? busy[0][1].share : facts.share;
  if (share === null || share === undefined) byId("progress").removeAttribute("value");
  else byId("progress").value = share;
  const isSlow = busy.some(([, task]) => task.share === null && performance.now() - task.running.since > 4000);
  const hint = isSlow ? " The first time takes longer: code is compiled, once." : "";
  const names = { estimate: "motion and labels", filter: "filter", front: "Pareto front", track: "motion over time" };
  write("busy-text", busy.length ? `Computing ${busy.map(([name]) => names[name]).join(", ")}…${hint}` : `Reading, ${short(facts.n_events)} events…`);
}

function frontInfo(app) {
  const { data } = app.front;
  if (!app.state.get("front")) return "";
  if (!data) return app.isPlaying ? "paused while playing" : "tracing…";
  const point = app.state.get("point");
  if (point < 0) return `${data.thetas.length} points; click one`;
  return app.front.describe(Math.min(point, data.thetas.length - 1)).split("\n").slice(0, 3).join("; ");
}

function words(app) {
  const { facts, shown } = app;
  if (app.message) return app.message;
  if (!facts.n_events) return facts.is_complete ? "There are no events in this recording." : "Reading…";
  if (shown.result?.warnings?.length) return shown.result.warnings[0];
  const events = shown.events ? `${count(shown.events.n_events)} events in ${milliseconds(shown.events.length_us)}` : "";
  return `${events}. Space plays, ← → step, ? shows all keys.`;
}
