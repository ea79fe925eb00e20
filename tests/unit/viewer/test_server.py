"""The server: access control, validation and answers."""

import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading

import numpy as np
import pytest

import evcrisp
from evcrisp import ConfigError, OutputError, UnknownNameError
from evcrisp.motion import MOTION_MODELS
from evcrisp.motion.open_motion import OPEN_MOTIONS
from evcrisp.viewer import ViewOptions, serve, view
from evcrisp.viewer.bundle_format import read_bundle
from evcrisp.viewer.page import static_files

pytestmark = pytest.mark.slow

WINDOW_US = 20_000


def test_page_policy_allows_only_files_of_the_server(client):
    answer = client.ask("")
    assert answer.status == 200
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "http" not in policy.replace("https://", "")
    assert answer.headers["x-frame-options"] == "DENY"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert b"scene &lt;&amp;&gt;.npz" in answer.body
    assert b"<&>" not in answer.body


@pytest.mark.parametrize("token", ["", "wrong", "0" * 32, "%00", "ä".encode().hex()])
def test_requests_without_the_token_are_not_found(client, token):
    for path in ("", "api/facts", "static/main.js"):
        assert client.ask(path, token=token).status == 404


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "", None])
def test_other_hosts_are_refused(client, host):
    assert client.ask("api/facts", headers={"Host": host}).status in (400, 421)


def test_localhost_is_accepted_as_host(client):
    assert client.ask("api/facts", headers={"Host": f"localhost:{client.port}"}).status == 200


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "https://127.0.0.1", "http://127.0.0.1:1"]
)
def test_other_pages_are_refused(client, origin):
    assert client.ask("api/facts", headers={"Origin": origin}).status == 403
    body = {"kind": "estimate"}
    assert client.ask("api/jobs", "POST", body, headers={"Origin": origin}).status == 403


def test_post_without_origin_is_refused(client):
    answer = client.ask("api/jobs", "POST", {"kind": "estimate"}, headers={"Origin": None})
    assert answer.status == 403


def test_large_requests_are_refused(client):
    assert client.ask("api/jobs", "POST", b" " * 20_000).status == 413
    for digits in ("99999999999999", "0" * 12 + "99999"):
        length = {"Content-Length": digits}
        assert client.ask("api/jobs", "POST", b"", headers=length).status == 413
    assert client.ask("api/jobs", "POST", headers={"Transfer-Encoding": "chunked"}).status == 411
    assert client.ask("api/facts?after=" + "1" * 5_000).status == 414


@pytest.mark.parametrize(
    "path",
    [
        "static/../session.py",
        "static/%2e%2e%2fsession.py",
        "static/page.html",
        "static/drawing",
        "static/drawing/",
        "static/drawing/../../session.py",
        "static/drawing/..%2F..%2Fsession.py",
        "static/%2Fetc%2Fpasswd",
        "static//etc/passwd",
        "../../etc/passwd",
        "api/files",
        "docs",
        "openapi.json",
    ],
)
def test_other_files_are_not_served(client, path):
    assert client.ask(path).status == 404


def test_all_files_of_the_page_are_served(client):
    names = [name for name in static_files() if not name.endswith(".html")]
    assert "drawing/colors.js" in names
    for name in names:
        answer = client.ask(f"static/{name}")
        assert (answer.status, answer.body) == (200, static_files()[name])
        kind = "text/css" if name.endswith(".css") else "text/javascript"
        assert answer.headers["content-type"].startswith(kind)


def test_facts_match_the_recording(client, scene):
    facts = client.ask("api/facts").json
    events = scene.events
    assert (facts["width"], facts["height"]) == events.resolution
    assert facts["n_events"] == len(events) == sum(facts["rate"]["on"]) + sum(facts["rate"]["off"])
    assert facts["duration_us"] == events.duration_us + 1
    assert facts["has_labels"]


def test_events_are_sent_with_eight_bytes_each(client, scene):
    answer = client.ask("api/events?start=30000&duration=20000")
    facts, arrays = read_bundle(answer.body)
    t_start = int(scene.events.t[0]) + 30_000
    expected = scene.events.between(t_start, t_start + 20_000)
    assert arrays["pixels"].size == arrays["dt"].size == facts["n_events"] == len(expected)
    assert ((arrays["pixels"] >> 15) & 0x7FFF).tolist() == expected.y.tolist()
    assert len(answer.body) < 8 * len(expected) + 500


@pytest.mark.parametrize(
    "query",
    [
        "",
        "start=0",
        "start=a&duration=5",
        "start=0&duration=0",
        "start=0&duration=99999999999",
        "start=0&duration=1e3",
    ],
)
def test_invalid_windows_are_refused_with_a_message(client, query):
    answer = client.ask(f"api/events?{query}")
    assert answer.status == 400
    assert "must" in answer.json["error"]


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        ([], "'kind'"),
        ({"kind": 5}, "'kind'"),
        ({"kind": "shell"}, "Unknown computation"),
        ({"kind": "estimate", "method": "magic"}, "Unknown method"),
        ({"kind": "estimate", "motion": "../../x"}, "Unknown motion model"),
        ({"kind": "filter", "filter": "x"}, "Unknown filter"),
        ({"kind": "estimate", "path": "/etc/passwd"}, "Unknown key 'path'"),
        ({"kind": "estimate", "start_us": 1.5}, "whole number"),
        ({"kind": "estimate", "start_us": True}, "whole number"),
        ({"kind": "front", "n_points": 1_000}, "3..41"),
    ],
)
def test_invalid_requests_are_refused_with_a_message(client, request_, words):
    answer = client.ask("api/jobs", "POST", request_)
    assert answer.status == 400
    assert words in answer.json["error"]


def test_invalid_json_is_refused(client):
    assert client.ask("api/jobs", "POST", b"{").status == 400
    assert client.ask("api/jobs", "POST", b"\xff").status == 400
    assert client.ask("api/jobs", "POST", b"[" * 8_000).status == 400


def test_estimate_equals_that_of_track(client, scene, tracked_window):
    facts, arrays = read_bundle(
        client.computed(kind="estimate", start_us=30_000, duration_us=WINDOW_US)
    )
    t_start = int(scene.events.t[0]) + 30_000
    events = scene.events.between(t_start, t_start + WINDOW_US)
    result = tracked_window(scene.events, 30_000, WINDOW_US)
    assert facts["theta"] == pytest.approx(result.theta.tolist())
    assert (facts["names"], facts["units"]) == (["vx", "vy"], ["px/s", "px/s"])
    assert arrays["flags"].tolist() == result.signal.tolist()
    shift = 2 * 128 * (arrays["shift_x"] / 65_535) - 128
    np.testing.assert_allclose(events.x + shift, result.aligned_x, atol=0.01)
    assert facts["variance"]["after"] > 1.2 * facts["variance"]["before"]
    assert facts["sensitivity"] == pytest.approx(result.signal[events.signal].mean())
    assert arrays["w"].size == arrays["map_kept"].size == 128 * 96


def test_filter_state_includes_events_before_the_window(client, scene):
    _, arrays = read_bundle(
        client.computed(kind="filter", filter="baf", start_us=30_000, duration_us=WINDOW_US)
    )
    events = scene.events
    inside = (events.t >= events.t[0] + 30_000) & (events.t < events.t[0] + 30_000 + WINDOW_US)
    assert arrays["flags"].tolist() == evcrisp.denoise(events, "baf").signal[inside].tolist()


def test_points_of_a_front_have_labels_and_maps(client):
    window = {"start_us": 30_000, "duration_us": WINDOW_US, "n_points": 5}
    front, _ = read_bundle(client.computed(kind="front", **window))
    assert len(front["thetas"]) == len(front["cost_ea"]) >= 3
    last = len(front["thetas"]) - 1
    point, arrays = read_bundle(client.computed(kind="point", index=last, **window))
    assert point["theta"] == front["thetas"][last]
    assert int(arrays["flags"].sum()) == front["n_signal"][last] == point["n_signal"]


def test_track_returns_the_motion_of_every_window(client):
    facts, arrays = read_bundle(client.computed(kind="track", duration_us=WINDOW_US))
    rows = arrays["rows"].reshape(facts["n_windows"], 4 + len(facts["names"]))
    assert len(rows) == 6
    assert (rows[:-1, 1] == WINDOW_US).all()
    assert rows[:, 2:4].all()  # usable and reliable
    assert (facts["motion"], facts["names"][:2]) == ("auto", ["vx", "vy"])
    np.testing.assert_allclose(np.median(rows[:, 4:6], axis=0), (300, -120), atol=15)


@pytest.mark.parametrize("motion", OPEN_MOTIONS)
@pytest.mark.parametrize("method", ["auto", "cmax"])
def test_open_motions_are_accepted_and_tell_the_model(client, method, motion):
    request = {"kind": "estimate", "duration_us": WINDOW_US, "method": method, "motion": motion}
    facts, _ = read_bundle(client.computed(**request))
    assert facts["motion"] == motion
    assert facts["model"] in MOTION_MODELS
    assert method == "auto" or facts["model"] == "translation"
    # The timeline has one table for all windows, whatever model each of them has.
    assert (
        len(facts["row"]["theta"]) == len(facts["row"]["names"]) == (6 if method == "auto" else 2)
    )
    np.testing.assert_allclose(facts["row"]["theta"][:2], (300, -120), atol=60)


def test_menu_lists_open_motions_first(client):
    page = client.ask("").body.decode()
    settings = json.loads(re.search(r'id="settings">(.*?)</script>', page, re.S).group(1))
    assert settings["choices"]["motions"] == [*OPEN_MOTIONS, *MOTION_MODELS]
    assert settings["start"]["motion"] == "auto"


def test_same_request_is_computed_once(client):
    # This takes minutes, because it has very many windows; the second request finds it running.
    request = {"kind": "track", "duration_us": 10}
    first, second = (client.ask("api/jobs", "POST", request).json for _ in range(2))
    assert first["id"] == second["id"]
    client.ask(f"api/jobs/{first['id']}", "DELETE")
    request = {"kind": "front", "start_us": 1_000, "duration_us": WINDOW_US, "n_points": 41}
    result = client.computed(**request)
    assert client.ask("api/jobs", "POST", request).body == result  # at once


def test_too_many_jobs_are_refused_and_cancel_frees_the_queue(recording, connect):
    with serve(ViewOptions(path=recording)) as url:
        client, _ = connect(url)
        # Each takes minutes, because it has very many windows.
        answers = [
            client.ask("api/jobs", "POST", {"kind": "track", "duration_us": 10 + k})
            for k in range(8)
        ]
        refused = [answer for answer in answers if answer.status == 429]
        assert refused
        assert "wait already" in refused[0].json["error"]
        jobs = [answer.json for answer in answers if answer.status == 200]
        assert len(jobs) == 5
        for job in jobs:
            assert client.ask(f"api/jobs/{job['id']}", "DELETE").json["state"] == "cancelled"
            assert client.ask(f"api/jobs/{job['id']}/result").status == 409
        # The running job was killed; the next one gets a new process.
        assert client.computed(kind="track", duration_us=WINDOW_US)


def test_unknown_jobs_are_not_found(client):
    assert client.ask("api/jobs/0123").status == 404
    assert client.ask("api/jobs/0123", "DELETE").status == 404
    assert client.ask("api/jobs/0123/result").status == 404


def test_parallel_requests_are_answered_or_refused(client):
    statuses = []

    def ask():
        statuses.append(client.ask("api/events?start=0&duration=20000").status)

    threads = [threading.Thread(target=ask) for _ in range(100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(statuses) == 100
    assert set(statuses) <= {200, 503}


@pytest.mark.parametrize("first_bytes", [b"", b"GET / HTTP/1.1\r\nHost: x"])
def test_idle_connections_do_not_block_new_ones(client, first_bytes):
    with contextlib.ExitStack() as stack:
        waiting = []
        for _ in range(200):
            waiting.append(
                stack.enter_context(socket.create_connection(("127.0.0.1", client.port)))
            )
            waiting[-1].sendall(first_bytes)
        for _ in range(3):
            assert client.ask("").status == 200
        # The oldest connections were closed, the latest were not.
        waiting[0].settimeout(10)
        with contextlib.suppress(ConnectionResetError):  # the server had unread data
            assert waiting[0].recv(1) == b""
        waiting[-1].setblocking(False)
        with pytest.raises(BlockingIOError):
            waiting[-1].recv(1)


def test_bodies_that_never_end_do_not_block_others(client):
    head = (
        f"POST /{client.token}/api/jobs HTTP/1.1\r\nHost: 127.0.0.1:{client.port}\r\n"
        f"Origin: http://127.0.0.1:{client.port}\r\nContent-Length: 1000\r\n\r\n{{"
    )
    with contextlib.ExitStack() as stack:
        for _ in range(100):
            slow = stack.enter_context(socket.create_connection(("127.0.0.1", client.port)))
            slow.sendall(head.encode())
        for _ in range(3):
            assert client.ask("api/facts").status == 200


def test_connections_are_kept_alive(client):
    connection = http.client.HTTPConnection("127.0.0.1", client.port, timeout=60)
    with contextlib.closing(connection):
        places = set()
        for _ in range(3):
            connection.request("GET", f"/{client.token}/api/facts")
            places.add(connection.sock.getsockname())
            assert connection.getresponse().read()
    assert len(places) == 1


def test_damaged_recording_shows_events_before_the_damage_and_an_error(tmp_path, scene, connect):
    path = tmp_path / "damaged.aedat4"
    evcrisp.write(path, scene.events, compression="none")
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    with serve(ViewOptions(path=path)) as url:
        _, facts = connect(url)
    assert "damaged.aedat4" in facts["error"]
    assert facts["is_known"] == (facts["n_events"] > 0)


def test_temporary_files_are_removed_at_the_end(recording, tmp_path, monkeypatch, connect):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    with serve(ViewOptions(path=recording)) as url:
        connect(url)
        assert [entry.name[:13] for entry in tmp_path.iterdir()] == ["evcrisp-view-"]
    assert list(tmp_path.iterdir()) == []


def test_invalid_options_raise(recording):
    with pytest.raises(UnknownNameError, match="Unknown method"):
        ViewOptions(path=recording, method="magic")
    with pytest.raises(ConfigError, match="`window_us` must be"):
        ViewOptions(path=recording, window_us=0)


def test_port_in_use_raises(recording, client):
    with pytest.raises(OutputError, match="is not available"):
        view(ViewOptions(path=recording), port=client.port)


@pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")
def test_command_prints_the_address_and_ends_at_ctrl_c(recording, connect):
    command = [sys.executable, "-m", "evcrisp", "view", str(recording), "--no-browser"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as program:
        line = program.stdout.readline()
        url = line.split(" is at ")[1].strip()
        assert url.startswith("http://127.0.0.1:")
        assert connect(url)[1]["n_events"]
        program.send_signal(signal.SIGINT)
        _, errors = program.communicate(timeout=30)
    assert program.returncode == 0, errors
    assert "Traceback" not in errors


def test_view_takes_a_path_and_options_like_the_command(recording, tmp_path, monkeypatch):
    opened = []
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr("uvicorn.Server.run", lambda self, sockets: None)
    view(str(recording), window_us=WINDOW_US, method="exact")
    assert opened[0].startswith("http://127.0.0.1:")


def test_view_fails_at_once_for_an_unreadable_recording(tmp_path, scene):
    with pytest.raises(FileNotFoundError, match="does not exist"):
        view(tmp_path / "none.npz")
    with pytest.raises(ConfigError, match="must be the path of a recording; got Events"):
        view(scene.events)
