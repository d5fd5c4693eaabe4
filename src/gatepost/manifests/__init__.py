"""From manifest files to objects and back, with file and line.

In: YAML and JSON files, folders, stdin; objects to print. Out: raw objects as kubectl would read them, each with the
place where it stands; every problem of the input as a value; YAML text that kubectl reads back unchanged.
Never: knowledge of what a kind means beyond its name, versions and scope (callers pass those); a stop at the first
problem.
Read `read.py` first, then along the way of the bytes: `sources.py`, `documents.py`, `parse.py`, `tree.py`,
`identity.py`, `metadata.py`.
`scalars.py` says which plain words are not strings; `write.py` is the way back.
"""

from gatepost.manifests.problems import InputProblem
from gatepost.manifests.read import Manifest, Manifests, read_manifests
from gatepost.manifests.write import dump_yaml, to_yaml

__all__ = ["InputProblem", "Manifest", "Manifests", "dump_yaml", "read_manifests", "to_yaml"]
