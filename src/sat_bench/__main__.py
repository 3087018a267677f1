import sys

from sat_bench.cli import main

sys.exit(main())
