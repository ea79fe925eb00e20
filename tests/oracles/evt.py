"""The slow and obvious versions of ``evt2.py``, ``evt3.py``, ``evt_encode.py`` and ``dat.py``."""


def _looped(previous, high, bits):
    """Return TIME_HIGH with the loops of its clock counted; half the range back is a new loop."""
    if previous is None:
        return high
    loops, before = divmod(previous, 1 << bits)
    return ((loops + (before - high >= 1 << (bits - 1))) << bits) + high


def decode_evt3(words):
    """Return events (x, y, t, p), triggers (t, value, channel), and the number lost."""
    events, triggers = [], []
    high = low = row = base = polarity = None
    n_lost = 0
    for word in map(int, words):
        kind, value = word >> 12, word & 0xFFF
        found = []
        if kind == 0x0:
            row = value % 2048
        elif kind == 0x2:
            found = [(value % 2048, value // 2048)]
        elif kind == 0x3:
            base, polarity = value % 2048, value // 2048
        elif kind in (0x4, 0x5):
            size = 12 if kind == 0x4 else 8
            found = [
                (None if base is None else (base + bit) % 65_536, polarity)
                for bit in range(size)
                if value >> bit & 1
            ]
            base = None if base is None else (base + size) % 65_536
        elif kind == 0x6:
            low = value
        elif kind == 0x8:
            looped = _looped(high, value, 12)
            low = low if looped == high else 0
            high = looped
        elif kind == 0xA and high is None:
            n_lost += 1
        elif kind == 0xA:
            triggers.append((high * 4096 + low, value & 1, value >> 8))
        for x, p in found:
            if None in (high, row, x):
                n_lost += 1
            else:
                events.append((x, row, high * 4096 + low, p))
    return events, triggers, n_lost


def decode_evt2(words):
    """Return the same for EVT 2.0."""
    return decode_evt21((word, 1) for word in words)


def decode_evt21(words):
    """Return the same for EVT 2.1; words are pairs (the half with the type, the mask)."""
    events, triggers = [], []
    high = None
    n_lost = 0
    for word, mask in words:
        kind, value, mask = int(word) >> 28, int(word) % (1 << 28), int(mask)
        time = None if high is None else high * 64 + (value >> 22)
        if kind == 0x8:
            high = _looped(high, value, 28)
        elif kind in (0x0, 0x1) and high is None:
            n_lost += mask.bit_count()
        elif kind in (0x0, 0x1):
            x, y = (value >> 11) % 2048, value % 2048
            events += [(x + bit, y, time, kind) for bit in range(32) if mask >> bit & 1]
        elif kind == 0xA and high is None:
            n_lost += 1
        elif kind == 0xA:
            triggers.append((time, value & 1, (value >> 8) % 32))
    return events, triggers, n_lost


def decode_dat(pairs, x_bits, y_bits):
    """Return events (x, y, t, p) of pairs (time, address)."""
    events = []
    loops, last = 0, 0
    for raw, address in pairs:
        raw, address = int(raw), int(address)
        loops += last - raw > 1 << 31
        last = raw
        x, rest = address % (1 << x_bits), address >> x_bits
        y, p = rest % (1 << y_bits), (rest >> y_bits) & 1
        events.append((x, y, (loops << 32) + raw, p))
    return events


def high_words(before, target, bits):
    """Return the TIME_HIGH values between two of them, loops counted: a stop at each half loop."""
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
