"""``python -m sessionstore.cli``: the same as the command ``sessionstore``."""

from sessionstore.cli import main

main()
