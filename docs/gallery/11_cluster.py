"""
Many recordings on a cluster
============================

One recording is one task. Any executor of Python runs the tasks: processes of this machine, or a
`dask.distributed <https://distributed.dask.org>`_ cluster (extra ``cluster``). Here the cluster is two
processes on this machine; for a real one, give ``Client`` the address of its scheduler. Workers need evcrisp,
and the recordings under the same path.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
from distributed import Client, LocalCluster

import evcrisp


def clean(path):
    """Clean one recording on a worker; return a few numbers, not events."""
    result = evcrisp.run(path, path.with_suffix(".out"))
    return {key: result.summary[key] for key in ("n_events", "n_kept", "n_windows", "n_reliable")}


def simulated(folder):
    """Write eight recordings of one scene, with more and more noise."""
    for k in range(8):
        scene = evcrisp.simulate(
            resolution=(160, 120), theta=(200, 80), duration_us=100_000, noise_hz=4.0 * k, seed=1
        )
        evcrisp.write(folder / f"recording-{k}.npz", scene.events)
    return sorted(folder.glob("*.npz"))


# %%
# Processes that are started import this file; the guard keeps them from starting clusters of their own.

if __name__ == "__main__":
    paths = simulated(Path(tempfile.mkdtemp()))
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with cluster, Client(cluster) as client:
        rows = list(client.get_executor(pure=False).map(clean, paths))

    # The signal is the same in all recordings, and so is about the number of events that are kept.
    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    noise_hz = [4 * k for k in range(8)]
    axes.bar(noise_hz, [row["n_events"] for row in rows], 3, color="lightgray", label="events")
    axes.bar(noise_hz, [row["n_kept"] for row in rows], 2, label="kept")
    axes.set(xlabel="noise [Hz per pixel]", ylabel="events")
    axes.legend()
    plt.show()
