"""Messages of other processes."""

import logging
from pathlib import Path

from evcrisp.core.errors import Setting
from evcrisp.pipeline.many.worker_task import Done, Job, repeat_messages, run_job

REMEDY = Setting("Set the sensor size", "resolution")


class Talking:
    """Task that logs messages and returns its arguments."""

    def __call__(self, source, target, *, overwrite):
        logger = logging.getLogger("evcrisp.test")
        logger.warning("100 % of the events are noise.")
        logger.warning("%s: %d events. %s", source, 3, REMEDY)
        logger.warning("%s", ValueError("odd"))
        return {"overwrite": overwrite}


def test_messages_are_collected_and_repeated_with_the_name(caplog):
    job = Job(Talking(), "scene", Path("/d/scene.raw"), Path("/out"), True, logging.INFO)
    done = run_job(job)
    assert done.facts == {"overwrite": True}
    assert done.messages[1][2] == (Path("/d/scene.raw"), 3, REMEDY)
    caplog.clear()
    repeat_messages(job, Done({}, done.messages))
    assert caplog.messages == [
        "scene: 100 % of the events are noise.",
        f"/d/scene.raw: 3 events. {REMEDY}",
        "scene: odd",
    ]
