"""Makes the modules that build objects for these tests importable by their names, however pytest imports tests."""

from __future__ import annotations

import sys
from pathlib import Path

_HERE = Path(__file__).parent

for _folder in (_HERE, _HERE / "domainmapping", _HERE / "gateway", _HERE / "route"):
    if str(_folder) not in sys.path:
        sys.path.append(str(_folder))
