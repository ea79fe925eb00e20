"""Download and verify the real recordings of ``manifest.toml``. None is part of the project.

python tests/data/fetch.py FOLDER           download missing files, then verify all
python tests/data/fetch.py --check FOLDER   verify only, without network access
"""

import argparse
import gzip
import hashlib
import sys
import tomllib
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MANIFEST = Path(__file__).with_name("manifest.toml")

#: Seconds without data after which a download fails.
TIMEOUT_S = 60


@dataclass(frozen=True)
class File:
    """One file of a recording."""

    path: str  # relative to the data folder
    sha256: str  # of the content; of a .gz file, after decompression
    url: str | None


def recordings() -> list[dict]:
    """Return the recordings of the manifest."""
    return tomllib.loads(MANIFEST.read_text())["recording"]


def files() -> Iterator[File]:
    """Yield all files of all recordings."""
    for recording in recordings():
        for file in recording["file"]:
            is_folder = Path(recording["path"]).name != file["name"]
            path = f"{recording['path']}/{file['name']}" if is_folder else recording["path"]
            yield File(path, file["sha256"], file.get("url"))


def content(path: Path) -> bytes:
    """Return the content of a file, decompressed if its name ends with .gz."""
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


def check(file: File, folder: Path) -> str:
    """Return "ok", "missing" or "wrong digest"."""
    path = folder / file.path
    if not path.is_file():
        return "missing"
    try:
        digest = hashlib.sha256(content(path)).hexdigest()
    except (OSError, EOFError):
        return "wrong digest"
    return "ok" if digest == file.sha256 else "wrong digest"


def download(file: File, folder: Path) -> None:
    """Download one file and write it if its digest is right.

    Raises
    ------
    OSError
        If the address cannot be read, or its content has another digest.
    """
    request = urllib.request.Request(file.url, headers={"Accept": "application/vnd.github.raw"})
    with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
        data = answer.read()
    if hashlib.sha256(data).hexdigest() != file.sha256:
        raise OSError("the content has another digest than the manifest")
    path = folder / file.path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)


def main(arguments: list[str] | None = None) -> int:
    """Run the program. Return the exit code: 0 if all files are there with the right digest."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="data folder; set EVCRISP_DATA to it")
    parser.add_argument("--check", action="store_true", help="verify only, download nothing")
    options = parser.parse_args(arguments)
    n_bad = 0
    for file in files():
        state = check(file, options.folder)
        if state == "missing" and file.url and not options.check:
            try:
                download(file, options.folder)
                state = "downloaded"
            except (OSError, urllib.error.URLError) as error:
                state = f"not downloaded: {error}"
        elif state == "missing" and not file.url:
            state = "missing, and no address is known: see `source` in the manifest"
        n_bad += state not in ("ok", "downloaded")
        sys.stdout.write(f"{file.path}: {state}\n")
    return min(n_bad, 1)


if __name__ == "__main__":
    sys.exit(main())
