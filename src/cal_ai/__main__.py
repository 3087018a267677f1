"""Makes `python -m cal_ai` the same as the command `cal-ai`."""

import sys

from cal_ai.cli import main

if __name__ == "__main__":
    sys.exit(main())
