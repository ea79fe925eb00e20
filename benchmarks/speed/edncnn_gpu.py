"""Throughput of `edncnn` on a GPU, by stage. Prints JSON.

Command: ``python -m benchmarks.speed.edncnn_gpu`` on a machine with a GPU; numpy and torch are enough.

Compared: history and network for several batch sizes. Times are medians after a warm-up, with
synchronization of the device.

Floor: the larger of two times: the multiplications of the network at the rate of large matrix
products, and the bytes of the patches, written and read once, at the rate of a large copy.
"""

import argparse
import statistics
import time

import torch
from benchmarks.measure import edge_events, report

from evcrisp.filters import denoise
from evcrisp.filters.learned.edncnn import Edncnn, TorchHistory
from evcrisp.filters.learned.edncnn_network import score

MULTIPLICATIONS = 25 * 25 * 4 * 16 * 9 + 12 * 12 * 16 * 32 * 9 + 6 * 6 * 32 * 64 * 9 + 2304
PATCH_BYTES = 4 * 25 * 25 * 4


def seconds(call, repeats):
    """Return the median time of a call, synchronized with the device."""
    times = []
    for _ in range(repeats + 2):
        torch.cuda.synchronize()
        began = time.perf_counter()
        call()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - began)
    return statistics.median(times[2:])


def device_rates(repeats):
    """Return multiplications and bytes per second of this device, without TF32."""
    side = 4096
    a, b = torch.rand(2, side, side, device="cuda")
    product = seconds(lambda: a @ b, repeats)
    copy = torch.empty_like(big := torch.rand(2**28, device="cuda"))
    moved = seconds(lambda: copy.copy_(big), repeats)
    return side**3 / product, 2 * big.numel() * 4 / moved


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--events", type=int, default=400_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--batches", type=int, nargs="*", default=[1024, 4096, 16384])
    options = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = False
    events = edge_events(options.events)
    whole = seconds(lambda: denoise(events, "edncnn", device="cuda"), options.repeats)
    stream = Edncnn(device="cuda").start(events.resolution)
    rows = {}
    for batch in options.batches:
        history = TorchHistory(events.resolution, "cuda", batch=batch)
        part = events[:batch].contiguous()
        patches = history.patches(part)
        history_s = seconds(lambda h=history, p=part: h.patches(p), options.repeats)
        network_s = seconds(lambda p=patches: score(stream.weights, p), options.repeats)
        rows[batch] = {
            "history_million_per_s": batch / history_s / 1e6,
            "network_million_per_s": batch / network_s / 1e6,
            "both_million_per_s": batch / (history_s + network_s) / 1e6,
        }
    multiplications, n_bytes = device_rates(options.repeats)
    floor = max(MULTIPLICATIONS / multiplications, 2 * PATCH_BYTES / n_bytes)
    results = {
        "device": torch.cuda.get_device_name(),
        "million_events_per_s": options.events / whole / 1e6,
        "floor_million_events_per_s": 1e-6 / floor,
        "over_floor": whole / options.events / floor,
        "by_batch": rows,
    }
    report("edncnn_gpu", results, **vars(options))


if __name__ == "__main__":
    main()
