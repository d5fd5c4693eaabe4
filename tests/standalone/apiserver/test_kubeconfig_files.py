"""Which files may be overwritten with a kubeconfig of the embedded server."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from gatepost.standalone.apiserver.kubeconfig import holds_something_else, kubeconfig, write_kubeconfig


def test_a_file_that_is_not_there_and_an_empty_one_hold_nothing(tmp_path: Path) -> None:
    assert not holds_something_else(tmp_path / "none")
    (tmp_path / "empty").write_text("\n")
    assert not holds_something_else(tmp_path / "empty")


def test_a_folder_is_something_else(tmp_path: Path) -> None:
    assert holds_something_else(tmp_path)


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "http://[::1]:2"])
def test_ours_may_be_written_again(url: str, tmp_path: Path) -> None:
    write_kubeconfig(url, tmp_path / "ours")
    assert not holds_something_else(tmp_path / "ours")


def test_so_may_ours_after_kubectl_has_set_another_namespace(tmp_path: Path) -> None:
    changed = kubeconfig("http://127.0.0.1:1")
    changed["contexts"][0]["context"]["namespace"] = "shop"
    (tmp_path / "ours").write_text(yaml.safe_dump(changed))
    assert not holds_something_else(tmp_path / "ours")
