"""The manifest lists every real recording that a test uses, with the right digests."""

import ast
import gzip
import hashlib
import itertools
from pathlib import Path

import pytest
from tests.data import fetch

ROOT = Path(__file__).parents[2]
CONTENT = b"0.0 1 2 1\n"


def words_of_tests():
    """Return the words between slashes in the strings of each test file that uses recordings."""
    found = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        text = path.read_text()
        if "data_dir" in text and path != Path(__file__):
            constants = [
                node.value
                for node in ast.walk(ast.parse(text))
                if isinstance(node, ast.Constant) and isinstance(node.value, str)
            ]
            words = {word for constant in constants for word in constant.split("/")}
            found[path.relative_to(ROOT).as_posix()] = words
    return found


def test_manifest_names_the_tests_of_each_recording():
    words = words_of_tests()
    for recording in fetch.recordings():
        name = Path(recording["path"]).name
        users = [path for path, found in words.items() if name in found]
        assert recording["tests"] == users, f"manifest.toml, {name}: set tests to {users}"


def literal_paths(tree):
    """Yield the literal beginnings of all paths ``data_dir / "folder" / "file"``."""
    for node in ast.walk(tree):
        words = []
        while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            words.insert(0, node.right)
            node = node.left
        if words and isinstance(node, ast.Name) and node.id == "data_dir":
            constants = itertools.takewhile(lambda word: isinstance(word, ast.Constant), words)
            yield "/".join(word.value for word in constants)


def test_manifest_lists_every_path_in_the_tests():
    listed = [f"{file.path}/" for file in fetch.files()]
    for test in words_of_tests():
        for path in literal_paths(ast.parse((ROOT / test).read_text())):
            assert not path or any(name.startswith(f"{path}/") for name in listed), path


def test_manifest_lists_every_recording_of_the_data_folder(data_dir):
    listed = {file.path for file in fetch.files()}
    words = set().union(*words_of_tests().values())
    for path in data_dir.rglob("*"):
        relative = path.relative_to(data_dir)
        is_used = {path.name, *relative.parts[1:2]} & words
        if path.is_file() and len(relative.parts) > 1 and is_used:
            assert relative.as_posix() in listed


def test_digests_match_the_data_folder(data_dir):
    states = {file.path: fetch.check(file, data_dir) for file in fetch.files()}
    assert "wrong digest" not in states.values(), states


def test_paths_are_relative_and_unique():
    paths = [file.path for file in fetch.files()]
    assert len(set(paths)) == len(paths)
    assert not any(Path(path).is_absolute() or ".." in Path(path).parts for path in paths)


def test_addresses_are_public_and_secure():
    for recording in fetch.recordings():
        assert recording["license"]
        assert all(source.startswith("https://") for source in recording["source"])
    assert all(file.url is None or file.url.startswith("https://") for file in fetch.files())


@pytest.fixture
def one_file(monkeypatch, tmp_path):
    """Put one compressed file into a folder, and only it into the manifest."""
    path = tmp_path / "ecd" / "window" / "events.txt.gz"
    path.parent.mkdir(parents=True)
    path.write_bytes(gzip.compress(CONTENT, mtime=7))
    file = {"name": "events.txt.gz", "sha256": "0" * 64}
    monkeypatch.setattr(fetch, "recordings", lambda: [{"path": "ecd/window", "file": [file]}])
    return path, file


def test_check_compares_decompressed_content(one_file, tmp_path, capsys):
    path, file = one_file
    assert fetch.main(["--check", str(tmp_path)]) == 1
    assert "wrong digest" in capsys.readouterr().out
    file["sha256"] = hashlib.sha256(CONTENT).hexdigest()
    assert fetch.main(["--check", str(tmp_path)]) == 0
    path.unlink()
    assert fetch.main(["--check", str(tmp_path)]) == 1
    assert "missing" in capsys.readouterr().out


def test_download_writes_only_content_with_the_right_digest(one_file, tmp_path):
    path, file = one_file
    path.unlink()
    source = tmp_path / "source.txt"
    source.write_bytes(CONTENT)
    file["url"] = source.as_uri()
    assert fetch.main([str(tmp_path)]) == 1
    assert not path.exists()
    file["sha256"] = hashlib.sha256(CONTENT).hexdigest()
    assert fetch.main([str(tmp_path)]) == 0
    assert gzip.decompress(path.read_bytes()) == CONTENT
