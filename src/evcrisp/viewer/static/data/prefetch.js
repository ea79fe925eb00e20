// While playing, windows overlap: a longer stretch is asked for once, and windows are cut from it.

/** The first place in sorted numbers whose number is not less. */
function lowerBound(numbers, value) {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A part of a window's events, as views; times count from the start of the stretch, the window starts at `dt_first`. */
function cut(stretch, start, length) {
  const from = start - stretch.start_us;
  const [first, last] = [from, from + length].map((time) => lowerBound(stretch.dt, time));
  return {
    ...stretch,
    start_us: start,
    length_us: length,
    n_events: last - first,
    dt_first: from,
    pixels: stretch.pixels.subarray(first, last),
    dt: stretch.dt.subarray(first, last),
  };
}

export class Stretches {
  /** `fetch` gets the events of a window. */
  constructor(fetch) {
    this.fetch = fetch;
    this.current = null;
    this.coming = null;
    this.tooMany = Infinity; // stretches as long as this have more events than are sent
  }

  /** Events of a window; so much time after it will be wanted soon. */
  async events(start, length, ahead) {
    if (this.holds(start, length)) {
      const end = this.current.start_us + this.current.length_us;
      if (start + length + ahead / 2 > end) this.prepare(start, length, ahead)?.catch(() => {}); // the next one will say
      return cut(this.current, start, length);
    }
    await (this.coming ?? this.prepare(start, length, ahead));
    return this.holds(start, length) ? cut(this.current, start, length) : this.fetch(start, length);
  }

  holds(start, length) {
    const { start_us: first, length_us: size } = this.current ?? {};
    return first <= start && start + length <= first + size;
  }

  prepare(start, length, ahead) {
    if (this.coming || length + ahead >= this.tooMany) return this.coming;
    this.coming = this.fetch(start, length + ahead).then((stretch) => {
      if (stretch.stride === 1) this.current = stretch;
      else this.tooMany = length + ahead;
    }).finally(() => (this.coming = null));
    return this.coming;
  }
}
