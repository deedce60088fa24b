"""Entry point of `python -m capturelint`."""

import sys

from capturelint.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
