"""Many recordings on a real cluster of two worker processes."""

import pytest

import evcrisp
from evcrisp.pipeline.many.finished import JOURNAL

pytestmark = pytest.mark.slow

distributed = pytest.importorskip("distributed", reason="needs the extra `cluster`")


def contents(folder):
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != JOURNAL)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def test_cluster_writes_the_same_bytes(scenes, tmp_path):
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    ) as cluster:
        address = cluster.scheduler_address
        result = evcrisp.run_many([scenes], tmp_path / "cluster", jobs=2, scheduler=address)
        again = evcrisp.run_many([scenes], tmp_path / "cluster", scheduler=address)
    evcrisp.run_many([scenes], tmp_path / "here", jobs=0)
    assert result.failures == {}
    assert len(again.reused) == 3
    assert contents(tmp_path / "cluster") == contents(tmp_path / "here")
