"""Decode and encode Event Stream byte by byte; oracle of ``kernels/io/es.py``."""


def decode_dvs(data, height):
    """Return events (x, y, t, p) of whole events, and the number of bytes read."""
    events, now, i = [], 0, 0
    while i < len(data):
        if data[i] == 0xFF:
            now += 127
            i += 1
        elif data[i] == 0xFE:
            i += 1
        elif i + 5 > len(data):
            break
        else:
            now += data[i] // 2
            x = int.from_bytes(data[i + 1 : i + 3], "little")
            row = int.from_bytes(data[i + 3 : i + 5], "little")
            events.append((x, height - 1 - row, now, data[i] % 2))
            i += 5
    return events, i


def encode_dvs(events, height):
    """Return the bytes of events (x, y, t, p), with fillers for long gaps."""
    data, now = b"", 0
    for x, y, t, p in events:
        n_fillers, step = divmod(t - now, 127)
        data += b"\xff" * n_fillers + bytes([2 * step + p])
        data += x.to_bytes(2, "little") + (height - 1 - y).to_bytes(2, "little")
        now = t
    return data
