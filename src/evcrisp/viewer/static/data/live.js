// Data from the server.

import { readBundle } from "evcrisp/data/bundle";
import { Prefetcher } from "evcrisp/data/prefetch";

export class LiveSource {
  constructor(settings) {
    this.settings = settings;
    this.isLive = true;
    serial = settings.serial;
    this.prefetcher = new Prefetcher((start, duration) => this.window(start, duration));
  }

  snap(t) {
    return Math.round(t);
  }

  snapDuration(duration) {
    return duration;
  }

  async facts(after) {
    return (await request(after === undefined ? "api/facts" : `api/facts?after=${after}`)).json();
  }

  /** Events of a window; the next `ahead` us will be needed soon. */
  async events(start, duration, ahead) {
    return ahead > 0 ? this.prefetcher.events(start, duration, ahead) : this.window(start, duration);
  }

  async window(start, duration) {
    const response = await request(`api/events?start=${start}&duration=${duration}`);
    return readBundle(await response.arrayBuffer());
  }

  async sensors() {
    return readBundle(await (await request("api/sensors")).arrayBuffer());
  }

  async frame(index) {
    return readBundle(await (await request(`api/frame?index=${index}`)).arrayBuffer());
  }

  /** Names of the recordings in the start folder. */
  async recordings() {
    return (await request("api/recordings")).json();
  }

  async open(name) {
    await request("api/open", { method: "POST", body: JSON.stringify({ name }) });
  }

  /** Compute on the server; onProgress is called with 0 to 1, or null if the progress is not known. */
  async compute(computation, onProgress, signal) {
    const answer = await this.submit(computation, signal);
    if (isBinary(answer)) return readBundle(await answer.arrayBuffer());
    let job = await answer.json();
    const cancel = () => request(`api/jobs/${job.id}`, { method: "DELETE" }).catch(() => {});
    if (signal.aborted) cancel();
    signal.addEventListener("abort", cancel, { once: true });
    try {
      while (job.state === "waiting" || job.state === "running") {
        onProgress(job.share);
        job = await (await request(`api/jobs/${job.id}?after=${job.version}`, { signal })).json();
      }
      if (job.state === "failed") throw new Error(job.error);
      if (computation.kind.startsWith("save")) return { kind: computation.kind, address: `api/jobs/${job.id}/file` };
      const response = await request(`api/jobs/${job.id}/result`, { signal });
      return readBundle(await response.arrayBuffer());
    } finally {
      signal.removeEventListener("abort", cancel);
    }
  }

  async submit(computation, signal) {
    const options = { method: "POST", body: JSON.stringify(computation), signal };
    for (let attempt = 0; ; attempt++) {
      try {
        return await request("api/jobs", options);
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

/** Number of the recording of this page; the server can open another one for another page. */
let serial = 0;

async function request(address, options) {
  let response;
  try {
    response = await fetch(address, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The server does not respond. Start `evcrisp view` again if it has ended.");
  }
  const of = response.headers.get("x-recording");
  if (of !== null && Number(of) !== serial) throw new Error("Another page has opened another recording. Reload this page to see it.");
  if (response.ok) return response;
  let text = `The server responded with status ${response.status}.`;
  try {
    text = (await response.json()).error ?? text;
  } catch {
    // Not a response of our server; keep the status.
  }
  throw Object.assign(new Error(text), { status: response.status });
}
