"""Makes `python -m truemark` the same as the command `truemark`."""

import sys

from truemark.cli import main

if __name__ == "__main__":
    sys.exit(main())
