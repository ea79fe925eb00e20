// Data from the server.

import { readBundle } from "evcrisp/data/bundle";
import { Stretches } from "evcrisp/data/prefetch";

export class LiveSource {
  constructor(settings) {
    this.settings = settings;
    this.isLive = true;
    this.stretches = new Stretches((start, length) => this.window(start, length));
  }

  snap(t) {
    return Math.round(t);
  }

  snapLength(length) {
    return length;
  }

  async facts(after) {
    return (await ask(after === undefined ? "api/facts" : `api/facts?after=${after}`)).json();
  }

  /** Events of a window; where it is known that more will be wanted soon, how much time ahead. */
  async events(start, length, ahead) {
    return ahead > 0 ? this.stretches.events(start, length, ahead) : this.window(start, length);
  }

  async window(start, length) {
    const response = await ask(`api/events?start=${start}&length=${length}`);
    return readBundle(await response.arrayBuffer());
  }

  /** Compute in the server; onProgress gets 0 to 1, or null where that is not known. */
  async compute(request, onProgress, signal) {
    const answer = await this.submit(request, signal);
    if (isBinary(answer)) return readBundle(await answer.arrayBuffer());
    let job = await answer.json();
    const cancel = () => ask(`api/jobs/${job.id}`, { method: "DELETE" }).catch(() => {});
    if (signal.aborted) cancel();
    signal.addEventListener("abort", cancel, { once: true });
    try {
      while (job.state === "waiting" || job.state === "running") {
        onProgress(job.share);
        job = await (await ask(`api/jobs/${job.id}?after=${job.version}`, { signal })).json();
      }
      if (job.state === "failed") throw new Error(job.error);
      const response = await ask(`api/jobs/${job.id}/result`, { signal });
      return readBundle(await response.arrayBuffer());
    } finally {
      signal.removeEventListener("abort", cancel);
    }
  }

  async submit(request, signal) {
    const options = { method: "POST", body: JSON.stringify(request), signal };
    for (let attempt = 0; ; attempt++) {
      try {
        return await ask("api/jobs", options);
      } catch (error) {
        if (error.status !== 429 || attempt === 5) throw error;
        await new Promise((resolve) => setTimeout(resolve, 300));
      }
    }
  }
}

function isBinary(response) {
  return response.headers.get("content-type") === "application/octet-stream";
}

async function ask(address, options) {
  let response;
  try {
    response = await fetch(address, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The server does not answer. Was evcrisp ended? Start `evcrisp view` again.");
  }
  if (response.ok) return response;
  let text = `The server answers ${response.status}.`;
  try {
    text = (await response.json()).error ?? text;
  } catch {
    // Not our words; the number has to do.
  }
  throw Object.assign(new Error(text), { status: response.status });
}
