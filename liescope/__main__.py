"""`python -m liescope`."""

import sys

from liescope.cli import main

sys.exit(main())
