// Start the viewer with data from the server, or with data in the page.

import { App } from "evcrisp/app";
import { EmbeddedSource } from "evcrisp/data/embedded";
import { LiveSource } from "evcrisp/data/live";

function fail(error) {
  const message = document.getElementById("message");
  message.classList.add("is-error");
  message.textContent = error.message;
  document.body.dataset.state = "failed";
}

async function start() {
  const settings = JSON.parse(document.getElementById("settings").textContent);
  const source = settings.live ? new LiveSource(settings) : new EmbeddedSource(settings);
  let facts = await source.facts();
  while (!facts.is_known && !facts.error) facts = await source.facts(facts.version);
  if (!facts.is_known) throw new Error(facts.error);
  const app = new App(source, settings, facts);
  globalThis.evcrisp = app;
  document.body.dataset.state = "ready";
  if (facts.error) app.fail(new Error(facts.error));
  app.follow().catch((error) => app.fail(error));
}

start().catch(fail);
