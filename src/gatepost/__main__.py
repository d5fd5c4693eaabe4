"""`python -m gatepost` is `gatepost`."""

from gatepost.cli import main

main()
