// Computations of the page: of each kind, only the latest request is computed.

import { LruCache } from "evcrisp/data/lru_cache";

/** An outdated computation is cancelled after this time; a faster one finishes. */
const CANCEL_AFTER_MS = 400;

export class Task {
  constructor(source, { onResult, onError, onChange }) {
    Object.assign(this, { source, onResult, onError, onChange });
    this.running = null;
    this.next = null;
    this.share = null;
    this.cache = new LruCache(24);
  }

  get isBusy() {
    return this.running !== null;
  }

  /** Compute a request, unless its result is cached or it is running. */
  request(request) {
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
    else if (performance.now() - this.running.since > CANCEL_AFTER_MS) this.running.abort.abort();
  }

  cancel() {
    this.next = null;
    this.running?.abort.abort();
  }

  /** Drop all results, because the recording has grown. */
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
    if (this.next) this.request(this.next);
  }
}
