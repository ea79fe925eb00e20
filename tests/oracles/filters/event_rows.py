"""Events as tuples of integers, for slow versions of kernels."""


def event_rows(events):
    """Yield x, y, t, p of each event as plain integers."""
    columns = (events.x, events.y, events.t, events.p)
    yield from zip(*(column.astype(int).tolist() for column in columns), strict=True)
