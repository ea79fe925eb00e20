"""Fuzz a reader guided by coverage: ``python -m tests.fuzz.guided READER [options of libFuzzer]``.

Needs the package atheris (``pip install "evcrisp[fuzz]"``, Linux). Every input is a file of the reader;
the samples are the first ones. Errors that are not ours end the program and save the input.
"""

import sys
import tempfile
from pathlib import Path


def main() -> None:
    """Fuzz the reader that the first argument names."""
    import atheris

    with atheris.instrument_imports(include=["evcrisp"]):
        from tests.fuzz.recordings import read_kept
        from tests.fuzz.samples import all_samples

        import evcrisp

    reader = sys.argv.pop(1)
    folder = Path(tempfile.mkdtemp(prefix="evcrisp-fuzz-"))
    samples = [s for s in all_samples(reader) if len(s.pack(s.files)) == 1 and "/" not in s.entry]
    corpus = folder / "corpus"
    corpus.mkdir()
    for number, sample in enumerate(samples):
        (corpus / str(number)).write_bytes(*sample.pack(sample.files).values())
    path = folder / samples[0].entry

    def check(data: bytes) -> None:
        path.write_bytes(data)
        try:
            read_kept(path, samples[0].reader)
        except evcrisp.EvError:
            return

    atheris.Setup([*sys.argv, str(corpus)], check)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
