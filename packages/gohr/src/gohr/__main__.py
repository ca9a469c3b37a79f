"""``python -m gohr``."""

from gohr.cli import main

if __name__ == "__main__":
    main()
