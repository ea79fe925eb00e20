// Prefetch: while playing, one request gets a longer segment, and windows are cut from it.

/** Index of the first of the sorted numbers that is not less than a value. */
function lowerBound(numbers, value) {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Events of a window as views of a segment; `dt` counts from the start of the segment, the window starts at `dt_first`. */
function cut(segment, start, duration) {
  const from = start - segment.start_us;
  const [first, last] = [from, from + duration].map((time) => lowerBound(segment.dt, time));
  return {
    ...segment,
    start_us: start,
    duration_us: duration,
    n_events: last - first,
    dt_first: from,
    pixels: segment.pixels.subarray(first, last),
    dt: segment.dt.subarray(first, last),
  };
}

export class Prefetcher {
  /** `fetch` requests the events of a window. */
  constructor(fetch) {
    this.fetch = fetch;
    this.current = null;
    this.pending = null;
    this.tooLong = Infinity; // shortest duration for which the server sends only a part of the events
  }

  /** Events of a window; the next `ahead` us will be needed soon. */
  async events(start, duration, ahead) {
    if (this.holds(start, duration)) {
      const end = this.current.start_us + this.current.duration_us;
      if (start + duration + ahead / 2 > end) this.prepare(start, duration, ahead)?.catch(() => {}); // the next request reports the error
      return cut(this.current, start, duration);
    }
    await (this.pending ?? this.prepare(start, duration, ahead));
    return this.holds(start, duration) ? cut(this.current, start, duration) : this.fetch(start, duration);
  }

  holds(start, duration) {
    const { start_us: first, duration_us: size } = this.current ?? {};
    return first <= start && start + duration <= first + size;
  }

  prepare(start, duration, ahead) {
    if (this.pending || duration + ahead >= this.tooLong) return this.pending;
    this.pending = this.fetch(start, duration + ahead).then((segment) => {
      if (segment.step === 1) this.current = segment;
      else this.tooLong = duration + ahead;
    }).finally(() => (this.pending = null));
    return this.pending;
  }
}
