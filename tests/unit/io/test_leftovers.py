"""Temporary files of killed processes: removed by the next run on their folder, no others."""

import os
import subprocess
import sys

import pytest

import evcrisp
from evcrisp.io import leftovers
from evcrisp.io.leftovers import owned_name, remove_leftovers

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs signal 0 of POSIX")


@pytest.fixture
def dead():
    """Return the id of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_only_files_of_dead_processes_of_this_host_are_removed(tmp_path, dead):
    host, random = leftovers._host(), "0123456789abcdef"
    stale = [f".part-{host}-{dead}-{random}.npz", f".part-{host}-{dead}-{random}.npz.x"]
    kept = [
        owned_name(".part-", ".npz"),
        f".part-{host}-{os.getpid()}-{random}.csv",
        f".part-{host}-1-{random}.csv",  # a process of another user
        f".part-{'0' * 12}-{dead}-{random}.npz",  # another host
        f".part-{random}.npz",  # of an older version
        f".part-{host}-{dead}-x.npz",
        f"part-{host}-{dead}-{random}.npz",
        f"{host}-{dead}-{random}.npz",
        "recording.npz",
    ]
    for name in (*stale, *kept):
        (tmp_path / name).write_bytes(b"x")
    folder = f".part-{host}-{dead}-{random}.columns"
    (tmp_path / folder / "inner").mkdir(parents=True)
    removed = remove_leftovers(tmp_path, ".part-")
    assert sorted(removed) == sorted([*stale, folder])
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(kept)


def test_links_are_removed_and_not_followed(tmp_path, dead):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a").touch()
    name = f".part-{leftovers._host()}-{dead}-0123456789abcdef"
    (tmp_path / name).symlink_to(tmp_path / "data")
    assert remove_leftovers(tmp_path, ".part-") == [name]
    assert (tmp_path / "data" / "a").exists()


def test_missing_and_unreadable_folders_are_left_alone(tmp_path):
    assert remove_leftovers(tmp_path / "missing", ".part-") == []


PROGRAM = """
import sys, time, evcrisp
def chunks():
    with evcrisp.open(sys.argv[1]) as recording:
        yield recording.read()
        print("writing", flush=True)
        time.sleep(100)
evcrisp.write(sys.argv[2], chunks())
"""


def test_the_next_write_removes_what_a_killed_one_left(tmp_path, make_events):
    source, output = tmp_path / "a.npz", tmp_path / "out" / "b.aedat4"
    output.parent.mkdir()
    evcrisp.write(source, make_events(5000))
    command = [sys.executable, "-c", PROGRAM, source, output]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(2)]
    killed, alive = processes
    try:
        for process in processes:
            assert process.stdout.readline() == b"writing\n"
        killed.kill()
        killed.wait()
        assert len(list(output.parent.glob(".part-*"))) == 2
        # In a new process, because a process looks for leftovers once per folder.
        code = "import sys, evcrisp; evcrisp.write(sys.argv[2], evcrisp.read(sys.argv[1]))"
        subprocess.run([sys.executable, "-c", code, source, output.parent / "c.npz"], check=True)
        left = [path.name for path in output.parent.glob(".part-*")]
        assert len(left) == 1
        assert f"-{alive.pid}-" in left[0]
        assert not output.exists()
    finally:
        for process in processes:
            process.kill()
            process.wait()
            process.stdout.close()
