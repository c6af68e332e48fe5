"""`python -m defragtrees` is the command `defragtrees`."""

import sys

from defragtrees.cli import main

if __name__ == "__main__":
    sys.exit(main())
