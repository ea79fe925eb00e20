"""One hour of live cleaning at 1 million events per second: memory, processor time, loss.

Command: ``python -m benchmarks.load.live [--seconds 3600] [--rate 1] [--method baf] [--folder DIR]``.

This program is an AEDAT4 server that sends the same second of events again and again, with later
times, at a constant rate. ``evcrisp live`` cleans them, writes a file, and writes to a pipe, from
which the kept events are counted here. Most events are noise, so that the file stays small; it is
read back at the end and removed. Prints JSON: samples by tenths, the summary, and the counts.
"""

import argparse
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
from benchmarks.load.flatness import sample, tenths, verdict
from benchmarks.measure import edge_events, report

import evcrisp
from evcrisp.io.aedat.aedat4_packets import PLAIN_EVENTS
from evcrisp.streaming.aedat4_wire import packets_of, stream_start

RESOLUTION = (1280, 720)
SECOND_US = 1_000_000
#: Bytes of a packet before its records: size, constant start, number of events.
PACKET_HEAD_BYTES = 4 + len(PLAIN_EVENTS) + 4
_RECORD = np.dtype([("t", "<i8"), ("rest", "<u8")])


def second_of_packets(rate):
    """Return the packets of one second as bytearrays, with a view on their records."""
    n = int(rate * SECOND_US)
    events = edge_events(n, RESOLUTION, rate_hz=n, noise_share=0.92)
    t = np.sort(np.random.default_rng(1).integers(0, SECOND_US, n))
    events = evcrisp.Events(x=events.x, y=events.y, t=t, p=events.p, resolution=RESOLUTION)
    packets = []
    for data, size in packets_of(events):
        data = bytearray(data)
        records = np.frombuffer(data, _RECORD, offset=len(data) - size * _RECORD.itemsize)
        packets.append((data, records, size))
    return packets


class Server(threading.Thread):
    """Sends packets at a constant rate to one client."""

    def __init__(self, rate, seconds):
        super().__init__(daemon=True)
        self.packets, self.seconds = second_of_packets(rate), seconds
        self.n_sent, self.worst_delay_s = 0, 0.0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]

    def run(self):
        """Accept the client and send all packets."""
        connection, _ = self._listener.accept()
        with connection:
            connection.sendall(stream_start(RESOLUTION))
            start = time.monotonic()
            for k in range(self.seconds):
                for i, (data, records, size) in enumerate(self.packets):
                    due = start + k + (i + 1) / len(self.packets)
                    time.sleep(max(0.0, due - time.monotonic()))
                    if k:
                        records["t"] += SECOND_US
                    connection.sendall(data)
                    self.n_sent += size
                    self.worst_delay_s = max(self.worst_delay_s, time.monotonic() - due)
        self._listener.close()


def count_records(pipe, counts):
    """Count the events of an AEDAT4 stream."""
    read = pipe.read
    magic = read(14)
    size = int.from_bytes(read(4), "little")
    counts["header"] = len(magic) + len(read(size))
    while head := read(8):
        _, size = struct.unpack("<ii", head)
        data = read(size)
        counts["events"] += (len(data) - PACKET_HEAD_BYTES) // _RECORD.itemsize


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=int, default=3600)
    parser.add_argument("--rate", type=float, default=1.0, help="million events per second")
    parser.add_argument("--method", default="baf")
    parser.add_argument("--folder", type=Path, help="folder for the file; default: temporary")
    options = parser.parse_args()
    server = Server(options.rate, options.seconds)
    server.start()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        output = Path(folder, "live.aedat4")
        words = ["-m", "evcrisp", "live", f"tcp://127.0.0.1:{server.port}", "-m", options.method]
        words += ["-o", str(output), "-o", "-", "--json"]
        log = Path(folder, "log")
        with log.open("w") as errors:
            child = subprocess.Popen(
                [sys.executable, *words], stdout=subprocess.PIPE, stderr=errors
            )
        counts = {"events": 0}
        reader = threading.Thread(target=count_records, args=(child.stdout, counts), daemon=True)
        reader.start()
        samples = []
        while child.poll() is None:
            if server.n_sent:
                samples.append(sample(server.n_sent, child.pid))
            time.sleep(max(0.2, options.seconds / 600))
        reader.join()
        rows = tenths([s for s in samples if s.n_events < server.n_sent] or samples)
        facts = {
            "exit_code": child.returncode,
            "n_sent": server.n_sent,
            "n_piped": counts["events"],
            "n_in_file": sum(len(chunk) for chunk in evcrisp.open(output).chunks()),
            "file_mb": output.stat().st_size / 1e6,
            "worst_delay_of_sender_s": server.worst_delay_s,
            "log": log.read_text()[-2000:],
        }
    report("live", {**verdict(rows), **facts}, **vars(options) | {"folder": None})


if __name__ == "__main__":
    main()
