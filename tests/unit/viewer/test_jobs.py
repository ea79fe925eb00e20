"""Computations in their queues: they wait, run, end, and are ended."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

from evcrisp.viewer.jobs import MAX_KEPT, Job, JobTable
from evcrisp.viewer.requests import Request
from evcrisp.viewer.session import Session, ViewOptions
from evcrisp.viewer.worker_queue import MAX_WAITING, BusyError

#: So many windows that it would take minutes.
ENDLESS = Request(kind="track", length_us=10)


def run(coroutine):
    """Run in a thread of its own: the browser's driver keeps an event loop in the main one."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, coroutine).result()


async def until(condition):
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.01)


def with_session(recording, scenario):
    """Run a scenario on a recording that has been read."""

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


def test_a_cancel_ends_the_process_of_a_long_computation(recording):
    async def scenario(session):
        job = session.submit(ENDLESS)
        await until(lambda: job.share is not None)
        process = session.lanes["recording"]._process
        await session.cancel(job)
        assert job.state == "cancelled"
        async with asyncio.timeout(30):
            await process.wait()
        after = session.submit(Request(kind="track", length_us=40_000))
        await after.finished(60)
        assert after.state == "done"

    with_session(recording, scenario)


def test_a_computation_that_two_have_asked_for_goes_on_when_one_cancels(recording):
    async def scenario(session):
        job = session.submit(ENDLESS)
        assert session.submit(ENDLESS) is job
        await session.cancel(job)
        assert job.state in ("waiting", "running")
        await session.cancel(job)
        assert job.state == "cancelled"

    with_session(recording, scenario)


def test_progress_rises_and_whoever_waits_is_told(recording):
    async def scenario(session):
        job = session.submit(ENDLESS)
        shares = []
        while len(shares) < 5:
            await job.after(job.version, 60)
            shares += [] if job.share is None else [job.share]
        assert shares == sorted(shares)
        assert 0 <= shares[0] < shares[-1] <= 1

    with_session(recording, scenario)


def test_a_queue_has_an_end_and_what_waits_can_be_cancelled(recording):
    async def scenario(session):
        first = session.submit(ENDLESS)
        await until(lambda: first.state == "running")
        waiting = [
            session.submit(Request(kind="track", length_us=1_000 + k)) for k in range(MAX_WAITING)
        ]
        with pytest.raises(BusyError, match="wait already"):
            session.submit(Request(kind="track", length_us=999))
        for job in waiting:
            await session.cancel(job)
            assert job.state == "cancelled"
        # The other queue goes on meanwhile.
        other = session.submit(Request(kind="estimate", length_us=20_000))
        await other.finished(60)
        assert other.state == "done"
        assert first.state == "running"

    with_session(recording, scenario)


def test_a_process_that_dies_is_said_and_replaced(recording):
    async def scenario(session):
        job = session.submit(ENDLESS)
        await until(lambda: job.share is not None)
        session.lanes["recording"]._process.kill()
        await job.finished(30)
        assert job.state == "failed"
        assert "ended unexpectedly" in job.error
        after = session.submit(Request(kind="track", length_us=40_000))
        await after.finished(60)
        assert after.state == "done"

    with_session(recording, scenario)


def test_old_results_are_forgotten():
    async def scenario():
        table = JobTable()
        jobs = [Job(None, key=str(k), state="done", content=b"x") for k in range(MAX_KEPT + 10)]
        for job in jobs:
            table.add(job)
        assert table.get(jobs[0].id) is None
        assert table.get(jobs[-1].id) is jobs[-1]
        assert table.known("5") is None
        assert table.known(str(MAX_KEPT)) is jobs[MAX_KEPT]
        large = table.add(Job(None, key="large", state="done", content=bytes(200 << 20)))
        table.add(Job(None, key="next", state="done", content=b"x"))
        assert table.get(large.id) is None

    run(scenario())


@pytest.mark.parametrize("kind", ["failed", "cancelled"])
def test_what_did_not_work_is_tried_again(kind):
    async def scenario():
        table = JobTable()
        table.add(Job(None, key="a", state=kind))
        assert table.known("a") is None

    run(scenario())
