"""``python -m evcrisp`` is the command ``evcrisp``."""

from evcrisp.cli import main

if __name__ == "__main__":
    main()
