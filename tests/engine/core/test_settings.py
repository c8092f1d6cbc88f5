from __future__ import annotations

import dataclasses
import tomllib
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.core.clock import FixedClock
from engine.core.errors import ConfigurationRefused, InvalidArgument
from engine.core.settings import (
    SETTINGS,
    PriceSetting,
    RootSetting,
    Settings,
    default_hotkey,
    default_in_words,
    load_settings,
    read_settings,
    save_setting,
)

if TYPE_CHECKING:
    from pathlib import Path

CONTRACT = {
    "transcripts.roots",
    "transcripts.exclude_projects",
    "time_zone",
    "search.semantic_wait_s",
    "embedding.enabled",
    "embedding.threads",
    "embedding.idle_unload_minutes",
    "embedding.on_battery",
    "embedding.model",
    "archive.enabled",
    "privacy.redact",
    "privacy.projects_apart",
    "usage.prices",
    "hotkey",
    "autostart",
    "theme",
}

HAND_WRITTEN = """\
# my settings
hotkey = "Ctrl+Alt+B"   # the other one is taken
future_switch = "kept"

[embedding]
# quiet machine
threads = 2
turbo = true

[[transcripts.roots]]
path = "/mnt/old/projects"
label = "old laptop"
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config" / "settings.toml"


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def test_the_table_lists_exactly_the_contracted_keys() -> None:
    assert {setting.key for setting in SETTINGS} == CONTRACT


def test_each_row_has_a_typed_field_with_the_same_default() -> None:
    assert {setting.name for setting in SETTINGS} == {field.name for field in dataclasses.fields(Settings)}
    defaults: dict[str, Any] = {s.key: s.default for s in SETTINGS if s.default is not None and s.default != {}}
    nested: dict[str, Any] = {}
    for key, value in defaults.items():
        table, _, name = key.rpartition(".")
        (nested.setdefault(table, {}) if table else nested)[name] = value
    assert read_settings(nested) == read_settings({})


def test_a_missing_file_means_defaults_and_creates_nothing(file: Path) -> None:
    loaded = load_settings(file)
    assert loaded.settings == Settings()
    assert loaded.problems == ()
    assert not file.parent.exists()


def test_values_of_the_file_are_typed(file: Path) -> None:
    write(file, HAND_WRITTEN)
    settings = load_settings(file).settings
    assert settings.hotkey == "Ctrl+Alt+B"
    assert settings.embedding_threads == 2
    assert settings.transcripts_roots == (RootSetting("/mnt/old/projects", "old laptop"),)


def test_a_byte_order_mark_is_tolerated(file: Path) -> None:
    file.parent.mkdir()
    file.write_bytes(b"\xef\xbb\xbf" + b'theme = "dark"\n')
    assert load_settings(file).settings.theme == "dark"


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ("embedding.enabled = 1", "embedding.enabled"),
        ("embedding.threads = 0", "embedding.threads"),
        ("embedding.threads = true", "embedding.threads"),
        ('embedding.threads = "2"', "embedding.threads"),
        ("search.semantic_wait_s = nan", "search.semantic_wait_s"),
        ("search.semantic_wait_s = -1", "search.semantic_wait_s"),
        ('theme = "blue"', "theme"),
        ('time_zone = "Mars/Olympus"', "time_zone"),
        ('time_zone = "../../etc/passwd"', "time_zone"),
        ('transcripts.roots = "/x"', "transcripts.roots"),
        ('privacy.redact = "no"', "privacy.redact"),
        ("usage.prices = 3", "usage.prices"),
        ("hotkey = ''", "hotkey"),
    ],
)
def test_a_wrong_value_falls_back_alone_and_is_reported(file: Path, line: str, key: str) -> None:
    write(file, f"{line}\nautostart = true\n")
    loaded = load_settings(file)
    assert loaded.settings == dataclasses.replace(Settings(), autostart=True)
    assert [problem.key for problem in loaded.problems] == [key]
    assert key in loaded.problems[0].what


def test_one_bad_root_does_not_cost_the_others(file: Path) -> None:
    write(file, 'transcripts.roots = [{path = "/a/projects", label = "a"}, {label = "no path"}, "text"]\n')
    loaded = load_settings(file)
    assert loaded.settings.transcripts_roots == (RootSetting("/a/projects", "a"),)
    assert len(loaded.problems) == 2


def test_one_bad_exclusion_does_not_cost_the_others(file: Path) -> None:
    write(file, 'transcripts.exclude_projects = ["*/secret", 3]\n')
    loaded = load_settings(file)
    assert loaded.settings.transcripts_exclude_projects == ("*/secret",)
    assert len(loaded.problems) == 1


def test_own_prices_are_read_by_model(file: Path) -> None:
    write(file, '[usage.prices."glm-5.1"]\ninput = 1\noutput = 4.5\n[usage.prices.bad]\ninput = -1\noutput = 2\n')
    loaded = load_settings(file)
    assert loaded.settings.usage_prices == (PriceSetting("glm-5.1", 1.0, 4.5),)
    assert "bad" in loaded.problems[0].what


def test_system_means_the_machines_zone(file: Path) -> None:
    write(file, 'time_zone = "system"\n')
    assert load_settings(file) == load_settings(file.with_name("missing"))


def test_a_misspelt_key_is_reported_and_an_unknown_one_is_not(file: Path) -> None:
    write(file, "future_switch = 1\n[embedding]\nthread = 3\n[from_the_future]\nx = 1\n")
    problems = load_settings(file).problems
    assert [problem.key for problem in problems] == ["embedding.thread"]
    assert "embedding.threads" in problems[0].what


@pytest.mark.parametrize("content", [b"theme = \n", b"\xff\xfe nonsense", b"a = 1\na = 2\n"])
def test_an_unreadable_file_is_moved_aside_with_a_date_and_reported(file: Path, content: bytes) -> None:
    file.parent.mkdir()
    file.write_bytes(content)
    loaded = load_settings(file, clock=FixedClock(1_772_000_000))
    aside = file.with_name("settings.toml.unreadable-20260225T061320Z")
    assert loaded.settings == Settings()
    assert aside.name in loaded.problems[0].what
    assert aside.read_bytes() == content
    assert not file.exists()


def test_saving_keeps_comments_order_and_unknown_keys(file: Path) -> None:
    write(file, HAND_WRITTEN)
    save_setting(file, "embedding.threads", 4)
    assert file.read_text(encoding="utf-8") == HAND_WRITTEN.replace("threads = 2", "threads = 4")


def test_saving_a_top_level_key_puts_it_before_the_tables(file: Path) -> None:
    write(file, HAND_WRITTEN)
    save_setting(file, "theme", "dark")
    assert load_settings(file).settings.theme == "dark"
    assert tomllib.loads(file.read_text(encoding="utf-8"))["embedding"] == {"threads": 2, "turbo": True}


def test_saving_roots_replaces_the_list(file: Path) -> None:
    write(file, HAND_WRITTEN)
    roots = (RootSetting("/a/projects", "a"), RootSetting("C:\\Users\\b\\.claude\\projects", 'the "b"'))
    save_setting(file, "transcripts.roots", roots)
    assert load_settings(file).settings.transcripts_roots == roots


def test_saving_none_takes_the_key_out(file: Path) -> None:
    write(file, HAND_WRITTEN)
    save_setting(file, "hotkey", None)
    assert load_settings(file).settings.hotkey == Settings().hotkey
    save_setting(file, "usage.prices", None)
    assert "usage" not in file.read_text(encoding="utf-8")


def test_saving_prices_round_trips(file: Path) -> None:
    prices = (PriceSetting("glm-5.1", 1.0, 4.5, cache_read=0.1), PriceSetting("my.model", 0.0, 0.0))
    save_setting(file, "usage.prices", prices)
    assert load_settings(file).settings.usage_prices == prices


def test_saving_the_same_value_does_not_touch_the_file(file: Path) -> None:
    write(file, HAND_WRITTEN)
    before = file.stat()
    save_setting(file, "embedding.threads", 2)
    assert (file.stat().st_ino, file.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_saving_a_wrong_value_is_refused(file: Path) -> None:
    with pytest.raises(InvalidArgument, match="whole number"):
        save_setting(file, "embedding.threads", "4")
    with pytest.raises(InvalidArgument, match="left out"):
        save_setting(file, "transcripts.roots", [{"label": "no path"}])
    assert not file.exists()


def test_an_unknown_key_names_the_nearest(file: Path) -> None:
    with pytest.raises(InvalidArgument) as caught:
        save_setting(file, "embedding.thread", 4)
    assert caught.value.candidates[0] == "embedding.threads"


def test_saving_into_a_broken_file_is_refused_and_leaves_it(file: Path) -> None:
    write(file, "theme = \n")
    with pytest.raises(ConfigurationRefused):
        save_setting(file, "autostart", value=True)
    assert file.read_text(encoding="utf-8") == "theme = \n"


def test_saving_under_a_key_that_is_no_table_is_refused(file: Path) -> None:
    write(file, "embedding = 3\n")
    with pytest.raises(ConfigurationRefused):
        save_setting(file, "embedding.threads", 4)
    assert file.read_text(encoding="utf-8") == "embedding = 3\n"


def test_saving_through_a_link_keeps_the_link(file: Path, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.toml"
    real.write_text("autostart = false\n", encoding="utf-8")
    file.parent.mkdir()
    file.symlink_to(real)
    save_setting(file, "autostart", value=True)
    assert file.is_symlink()
    assert real.read_text(encoding="utf-8") == "autostart = true\n"


def test_nothing_is_left_beside_the_file(file: Path) -> None:
    save_setting(file, "autostart", value=True)
    assert [each.name for each in file.parent.iterdir()] == ["settings.toml"]


@given(
    roots=st.lists(
        st.builds(
            RootSetting,
            path=st.text(st.characters(codec="utf-8"), min_size=1),
            label=st.text(st.characters(codec="utf-8"), min_size=1),
        ),
        max_size=4,
    ).map(tuple),
    patterns=st.lists(st.text(st.characters(codec="utf-8"), min_size=1), max_size=4).map(tuple),
)
def test_whatever_is_saved_is_loaded(
    tmp_path_factory: pytest.TempPathFactory, roots: tuple[RootSetting, ...], patterns: tuple[str, ...]
) -> None:
    file = tmp_path_factory.mktemp("settings") / "settings.toml"
    file.write_text(HAND_WRITTEN, encoding="utf-8")
    save_setting(file, "transcripts.roots", roots)
    save_setting(file, "privacy.projects_apart", patterns)
    settings = load_settings(file).settings
    assert settings.transcripts_roots == roots
    assert settings.privacy_projects_apart == patterns
    assert settings.embedding_threads == 2


def test_the_hotkey_of_a_mac_differs() -> None:
    assert default_hotkey("darwin") == "Ctrl+Option+Space"
    assert default_hotkey("linux") == default_hotkey("win32") == "Ctrl+Shift+Space"


def test_each_default_can_be_said_in_words() -> None:
    words = {setting.key: default_in_words(setting) for setting in SETTINGS}
    assert words["search.semantic_wait_s"] == "3"
    assert words["embedding.enabled"] == "true"
    assert words["embedding.threads"] == "half of the cores"
    assert words["theme"] == '"system"'
    assert words["privacy.projects_apart"] == "[]"


def test_a_path_that_is_no_unicode_is_refused(file: Path) -> None:
    with pytest.raises(ConfigurationRefused):
        save_setting(file, "transcripts.roots", [RootSetting("/mnt/caf\udce9", "old")])
    assert not file.exists()
