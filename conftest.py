"""What holds for all tests."""

from __future__ import annotations

from hypothesis import settings

# A single example may take long on a busy machine or in its first run; pytest-timeout ends what hangs.
settings.register_profile("gatepost", deadline=None)
settings.load_profile("gatepost")
