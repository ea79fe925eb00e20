"""Receive events with dv-processing and write them to a file: FILE N_EVENTS HOST PORT, or PATH.

A process of its own, because a NetworkReader that connects blocks Python.
"""

import os
import sys

import evcrisp
from evcrisp import Events


def main():
    import dv_processing as dv

    n_wanted = int(sys.argv[2])
    where = (sys.argv[3], int(sys.argv[4])) if len(sys.argv) > 4 else (sys.argv[3],)
    reader = dv.io.NetworkReader(*where)
    got = [Events.empty(reader.getEventResolution())]
    while sum(map(len, got)) < n_wanted and reader.isRunning():
        if (batch := reader.getNextEventBatch()) is not None:
            got.append(Events.from_dv(batch, got[0].resolution))
    evcrisp.write(sys.argv[1], Events.concatenate(got))
    os._exit(0)


if __name__ == "__main__":
    main()
