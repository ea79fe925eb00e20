"""Slow version of the kernel of knoise."""


def row_column_neighbors(x, y, t, p, config):
    """Score by the k-th newest adjacent event of three columns and three rows."""
    columns, rows, scores = {}, {}, []
    for event in zip(x, y, t, p, strict=True):
        x0, y0, now, polarity = event
        cells = [columns.get(x0 + step) for step in (-1, 0, 1)]
        cells += [rows.get(y0 + step) for step in (-1, 0, 1)]
        ages = sorted(
            now - cell[2]
            for cell in cells
            if cell is not None
            and max(abs(cell[0] - x0), abs(cell[1] - y0)) <= 1
            and (config.include_self or cell[:2] != (x0, y0))
            and (cell[3] == polarity or not config.same_polarity)
        )
        enough = len(ages) >= config.k
        scores.append(config.tau_us / (config.tau_us + ages[config.k - 1]) if enough else 0.0)
        columns[x0] = rows[y0] = event
    return scores
