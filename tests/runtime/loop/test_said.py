"""What has been said already is not said again while it lasts."""

from __future__ import annotations

from gatepost.runtime.loop.said import Said


def test_the_same_again_is_no_news() -> None:
    said: Said[str, str] = Said()
    assert said.take_news("a", ["x", "y", "x"]) == ["x", "y"]
    assert said.take_news("a", ["y", "z"]) == ["z"]
    assert said.of("a") == ("y", "z")


def test_what_went_and_came_back_is_news() -> None:
    said: Said[str, str] = Said()
    said.take_news("a", ["x"])
    assert said.take_news("a", []) == []
    assert said.take_news("a", ["x"]) == ["x"]


def test_each_key_has_news_of_its_own_and_can_be_forgotten() -> None:
    said: Said[str, str] = Said()
    said.take_news("a", ["x"])
    assert said.take_news("b", ["x"]) == ["x"]
    said.forget("a")
    assert said.of("a") == ()
    assert said.take_news("b", ["x"]) == []
