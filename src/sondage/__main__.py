"""``python -m sondage`` is the command line."""

from sondage.cli import main

if __name__ == "__main__":
    main()
