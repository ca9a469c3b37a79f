"""``python -m gnomon_board``."""

from gnomon_board.cli import main

if __name__ == "__main__":
    main()
