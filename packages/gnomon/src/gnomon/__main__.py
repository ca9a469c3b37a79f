"""``python -m gnomon`` is ``gnomon``."""

from gnomon.cli import main

if __name__ == "__main__":
    main()
