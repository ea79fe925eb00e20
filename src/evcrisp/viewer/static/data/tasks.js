// Computations that the page wants: of each kind the latest wish counts.

import { Recent } from "evcrisp/data/lru_cache";

/** A slow computation that is not wanted any more is ended; a fast one may finish. */
const PATIENCE_MS = 400;

export class Task {
  constructor(source, { onResult, onError, onChange }) {
    Object.assign(this, { source, onResult, onError, onChange });
    this.running = null;
    this.next = null;
    this.share = null;
    this.cache = new Recent(24);
  }

  get isBusy() {
    return this.running !== null;
  }

  /** Compute this, unless it is known or on its way. */
  want(request) {
    const key = JSON.stringify(request);
    const known = this.cache.get(key);
    if (known) {
      this.next = null;
      this.onResult(known, request);
      return;
    }
    if (this.running?.key === key && !this.running.abort.signal.aborted) {
      this.next = null;
      return;
    }
    this.next = request;
    if (!this.running) this.run();
    else if (performance.now() - this.running.since > PATIENCE_MS) this.running.abort.abort();
  }

  cancel() {
    this.next = null;
    this.running?.abort.abort();
  }

  /** Forget everything: the recording has grown. */
  reset() {
    this.cache.clear();
    this.cancel();
  }

  async run() {
    const request = this.next;
    const abort = new AbortController();
    this.next = null;
    this.running = { key: JSON.stringify(request), abort, since: performance.now() };
    this.share = null;
    this.onChange();
    try {
      const result = await this.source.compute(request, (share) => {
        this.share = share;
        this.onChange();
      }, abort.signal);
      this.cache.set(this.running.key, result);
      this.onResult(result, request);
    } catch (error) {
      if (error.name !== "AbortError") this.onError(error);
    }
    this.running = null;
    this.onChange();
    if (this.next) this.want(this.next);
  }
}
