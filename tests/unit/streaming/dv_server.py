"""Serve the events of a file with dv-processing to one client: FILE HOST PORT, or FILE PATH.

A process of its own, because the end of a NetworkWriter waits for Python while it blocks Python.
"""

import os
import sys
import time

import evcrisp


def main():
    import dv_processing as dv

    events = evcrisp.read(sys.argv[1])
    where = (sys.argv[2], int(sys.argv[3])) if len(sys.argv) > 3 else (sys.argv[2],)
    stream = dv.io.Stream.EventStream(0, "events", "camera", events.resolution)
    writer = dv.io.NetworkWriter(*where, stream)
    sys.stdout.write("listening\n")
    sys.stdout.flush()
    while writer.getClientCount() == 0:
        time.sleep(0.002)
    for first in range(0, len(events), 15_000):
        writer.writeEvents(events[first : first + 15_000].to_dv())
    while writer.getQueuedPacketCount() > 0:
        time.sleep(0.002)
    sys.stdin.read()  # until the test ends it
    os._exit(0)


if __name__ == "__main__":
    main()
