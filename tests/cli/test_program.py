"""The program as the shell sees it: closed and full outputs, and Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

GATEPOST = (sys.executable, "-m", "gatepost")
ROUTE = """\
apiVersion: v1
kind: Namespace
metadata: {name: shop}
"""


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    path = tmp_path / "shop.yaml"
    path.write_text(ROUTE)
    return path


def in_shell(line: str, manifest: Path) -> subprocess.CompletedProcess[str]:
    command = line.format(gatepost=" ".join(GATEPOST), file=manifest)
    return subprocess.run(command, shell=True, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("what", ["render {file}", "endpoints {file}", "--help", "--version"])
def test_a_closed_output_is_no_failure(what: str, manifest: Path) -> None:
    done = in_shell(f"{{gatepost}} {what} >&-", manifest)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-16"])
def test_output_is_utf_8_whatever_the_locale(encoding: str, manifest: Path) -> None:
    manifest.write_text(
        f"{ROUTE.replace('name', 'annotations: {note: bücher ☃}, name')}---\nkind: ☃\n", encoding="utf-8"
    )
    environment = {**os.environ, "PYTHONIOENCODING": encoding, "LC_ALL": "POSIX", "PYTHONUTF8": "0"}
    done = subprocess.run([*GATEPOST, "render", manifest], capture_output=True, env=environment, timeout=60)
    assert "note: bücher ☃" in done.stdout.decode()
    assert "Traceback" not in done.stderr.decode()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("what", ["render {file}", "endpoints -o json {file}", "run --help"])
def test_a_full_output_is_told_in_one_line(what: str, manifest: Path) -> None:
    done = in_shell(f"{{gatepost}} {what} >/dev/full", manifest)
    assert done.returncode == 3
    assert done.stderr == "Error: the output cannot be written: No space left on device\n"


@pytest.mark.parametrize("what", ["render {file}", "endpoints -o json {file}", "run --help", "--version"])
def test_a_reader_that_goes_ends_it_without_a_word(what: str, manifest: Path) -> None:
    command = f"{{gatepost}} {what}".format(gatepost=" ".join(GATEPOST), file=manifest)
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(command.split(), stdout=writing, stderr=subprocess.PIPE, text=True, timeout=60)
    finally:
        os.close(writing)
    assert done.returncode == 141
    assert "Traceback" not in done.stderr


def test_ctrl_c_while_standard_input_is_read_ends_with_the_code_of_the_shell() -> None:
    process = subprocess.Popen(
        [*GATEPOST, "render", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdin is not None
        for _ in range(64):  # more than fits into a pipe: once all is taken, the program reads
            process.stdin.write("# a comment\n" * 1000)
        process.stdin.flush()
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 130
    assert "Traceback" not in said
