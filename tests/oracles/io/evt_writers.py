"""Encode EVT 2.0 and EVT 3.0 event by event; oracle of ``kernels/io/evt_writers.py``."""


def high_words(before, target, bits):
    """Return the TIME_HIGH values between two of them, with loops; one stop per half loop."""
    if before is None:
        return [target] if target < 1 << bits else [0, *high_words(0, target, bits)]
    half = 1 << (bits - 1)
    stops = set()
    for half_loop in range(before // half, target // half + 1):
        first = half_loop * half
        stops |= {first, first + half - 1} if half_loop % 2 == 0 else {first + half - 1}
    return sorted(stop for stop in stops | {target} if before < stop <= target)


def encode_evt2(events):
    """Return the EVT 2.0 words of events (x, y, t, p)."""
    words = []
    high = None
    for x, y, t, p in events:
        for value in high_words(high, t // 64, 28):
            words.append(0x8 << 28 | value % (1 << 28))
        high = t // 64
        words.append(p << 28 | t % 64 << 22 | x << 11 | y)
    return words


def encode_evt3(events, width):
    """Return the EVT 3.0 words of events (x, y, t, p)."""
    words = []
    high = low = row = None
    follow = None
    for run in _runs(events):
        x, y, t, p = run[0]
        changes = [0x8000 | value % 4096 for value in high_words(high, t // 4096, 12)]
        if changes or low != t % 4096:
            changes.append(0x6000 | t % 4096)
        if row != y:
            changes.append(y)
        high, low, row = t // 4096, t % 4096, y
        words += changes
        follow = None if changes else follow
        start = x // 32 * 32
        if start + 32 <= width and len(run) >= (4 if follow == (start, p) else 5):
            if follow != (start, p):
                words.append(0x3000 | p << 11 | start)
            mask = sum(1 << (event[0] - start) for event in run)
            words += [0x4000 | mask % 4096, 0x4000 | mask >> 12 & 0xFFF, 0x5000 | mask >> 24]
            follow = (start + 32, p)
        else:
            words += [0x2000 | p << 11 | event[0] for event in run]
            follow = None
    return words


def _runs(events):
    """Split events where time, row, polarity or group of 32 pixels changes, or x does not grow."""
    runs = []
    for event in events:
        x, *rest = event
        if runs and runs[-1][-1][1:] == tuple(rest):
            last = runs[-1][-1][0]
            if last < x and last // 32 == x // 32:
                runs[-1].append(event)
                continue
        runs.append([event])
    return runs


def encode_evt2_triggers(triggers):
    """Return the EVT 2.0 words of triggers (t, channel, level)."""
    words = []
    high = None
    for t, channel, level in triggers:
        words += [0x8 << 28 | value % (1 << 28) for value in high_words(high, t // 64, 28)]
        high = t // 64
        words.append(0xA << 28 | t % 64 << 22 | channel << 8 | level)
    return words


def encode_evt3_triggers(triggers):
    """Return the EVT 3.0 words of triggers (t, channel, level)."""
    words = []
    high = low = None
    for t, channel, level in triggers:
        changes = [0x8000 | value % 4096 for value in high_words(high, t // 4096, 12)]
        if changes or low != t % 4096:
            changes.append(0x6000 | t % 4096)
        high, low = t // 4096, t % 4096
        words += [*changes, 0xA << 12 | channel << 8 | level]
    return words
