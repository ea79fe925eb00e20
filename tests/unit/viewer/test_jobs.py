"""Jobs and their queues: waiting, running, finishing, cancelling."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

from evcrisp.viewer.requests import Request
from evcrisp.viewer.session import Session, ViewOptions
from evcrisp.viewer.worker_queue import MAX_KEPT, MAX_WAITING, BusyError, Job, JobTable

pytestmark = pytest.mark.slow

#: Takes minutes, because it has very many windows.
LONG = Request(kind="track", duration_us=10)


def run(coroutine):
    """Run in another thread, because the browser driver has an event loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, coroutine).result()


async def until(condition):
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.01)


def with_session(recording, scenario):
    """Run a scenario on a recording after it was read."""

    async def whole():
        session = Session(ViewOptions(path=recording))
        await session.start()
        try:
            await until(lambda: session.facts()["is_complete"])
            await scenario(session)
        finally:
            await session.stop()
        assert not session.folder.exists()

    run(whole())


def test_cancel_kills_the_process_of_a_long_job(recording):
    async def scenario(session):
        job = session.submit(LONG)
        await until(lambda: job.share is not None)
        process = session.queues["recording"]._process
        await session.cancel(job)
        assert job.state == "cancelled"
        async with asyncio.timeout(30):
            await process.wait()
        after = session.submit(Request(kind="track", duration_us=40_000))
        await after.wait_until_final(60)
        assert after.state == "done"

    with_session(recording, scenario)


def test_shared_job_continues_until_both_clients_cancel(recording):
    async def scenario(session):
        job = session.submit(LONG)
        assert session.submit(LONG) is job
        await session.cancel(job)
        assert job.state in ("waiting", "running")
        await session.cancel(job)
        assert job.state == "cancelled"

    with_session(recording, scenario)


def test_progress_increases_and_wakes_waiting_clients(recording):
    async def scenario(session):
        job = session.submit(LONG)
        shares = []
        while len(shares) < 5:
            await job.wait_for_change(job.version, 60)
            shares += [] if job.share is None else [job.share]
        assert shares == sorted(shares)
        assert 0 <= shares[0] < shares[-1] <= 1

    with_session(recording, scenario)


def test_full_queue_raises_and_waiting_jobs_can_be_cancelled(recording):
    async def scenario(session):
        first = session.submit(LONG)
        await until(lambda: first.state == "running")
        waiting = [
            session.submit(Request(kind="track", duration_us=1_000 + k)) for k in range(MAX_WAITING)
        ]
        with pytest.raises(BusyError, match="wait already"):
            session.submit(Request(kind="track", duration_us=999))
        for job in waiting:
            await session.cancel(job)
            assert job.state == "cancelled"
        # The other queue still works.
        other = session.submit(Request(kind="estimate", duration_us=20_000))
        await other.wait_until_final(60)
        assert other.state == "done"
        assert first.state == "running"

    with_session(recording, scenario)


def test_crashed_process_is_reported_and_replaced(recording):
    async def scenario(session):
        job = session.submit(LONG)
        await until(lambda: job.share is not None)
        session.queues["recording"]._process.kill()
        await job.wait_until_final(30)
        assert job.state == "failed"
        assert "ended unexpectedly" in job.error
        after = session.submit(Request(kind="track", duration_us=40_000))
        await after.wait_until_final(60)
        assert after.state == "done"

    with_session(recording, scenario)


def test_oldest_results_are_dropped():
    async def scenario():
        table = JobTable()
        jobs = [Job(None, key=str(k), state="done", content=b"x") for k in range(MAX_KEPT + 10)]
        for job in jobs:
            table.add(job)
        assert table.get(jobs[0].id) is None
        assert table.get(jobs[-1].id) is jobs[-1]
        assert table.find("5") is None
        assert table.find(str(MAX_KEPT)) is jobs[MAX_KEPT]
        large = table.add(Job(None, key="large", state="done", content=bytes(200 << 20)))
        table.add(Job(None, key="next", state="done", content=b"x"))
        assert table.get(large.id) is None

    run(scenario())


@pytest.mark.parametrize("kind", ["failed", "cancelled"])
def test_unsuccessful_jobs_are_not_reused(kind):
    async def scenario():
        table = JobTable()
        table.add(Job(None, key="a", state=kind))
        assert table.find("a") is None

    run(scenario())
