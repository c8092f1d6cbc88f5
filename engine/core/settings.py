"""The person's settings: one table of keys, read from `config/settings.toml` into a frozen value.

The settings window and `docs/settings.md` are built from `SETTINGS`. Reading never fails: a wrong value falls back to
its default, a file that is no TOML is moved aside, and both are reported. Writing changes one key and keeps comments,
order and keys this version does not know.
"""

from __future__ import annotations

import difflib
import os
import sys
import tomllib
from collections.abc import MutableMapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal, cast

from engine.core.clock import Clock, SystemClock
from engine.core.errors import ConfigurationRefused, InvalidArgument
from engine.core.files import write_atomically
from engine.core.setting_kinds import PriceSetting, RootSetting, Setting, WrongValue, read_value

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = [
    "BUNDLED_MODEL",
    "SETTINGS",
    "LoadedSettings",
    "PriceSetting",
    "RootSetting",
    "Setting",
    "SettingProblem",
    "Settings",
    "Theme",
    "default_hotkey",
    "default_in_words",
    "default_threads",
    "load_settings",
    "moved_aside",
    "read_settings",
    "save_setting",
    "setting_of",
]

Theme = Literal["system", "light", "dark"]
_ASIDE = ".unreadable-"

BUNDLED_MODEL = "bundled"
"""The embedding model that is installed with the app; another value is a folder with a sentence-transformers model."""


def default_hotkey(platform: str) -> str:
    """Return the hotkey of a fresh installation for a value of `sys.platform`."""
    return "Ctrl+Option+Space" if platform == "darwin" else "Ctrl+Shift+Space"


def default_threads() -> int:
    """Return half of the cores, at least 1: embedding must leave the machine usable."""
    return max(1, (os.cpu_count() or 2) // 2)


@dataclass(frozen=True, slots=True)
class Settings:
    """Every setting, typed. A field is its key with the dots replaced; its default is a fresh installation's."""

    transcripts_roots: tuple[RootSetting, ...] = ()
    """Folders beside the ones found by themselves."""
    transcripts_exclude_projects: tuple[str, ...] = ()
    time_zone: str | None = None
    """IANA name; None is the system's zone."""
    search_semantic_wait_s: float = 3.0
    embedding_enabled: bool = True
    embedding_threads: int = field(default_factory=default_threads)
    embedding_idle_unload_minutes: int = 10
    embedding_on_battery: bool = False
    embedding_model: str = BUNDLED_MODEL
    archive_enabled: bool = True
    privacy_redact: bool = True
    privacy_projects_apart: tuple[str, ...] = ()
    usage_prices: tuple[PriceSetting, ...] = ()
    hotkey: str = field(default_factory=lambda: default_hotkey(sys.platform))
    autostart: bool = False
    theme: Theme = "system"


SETTINGS: tuple[Setting, ...] = (
    Setting(
        "transcripts.roots",
        "roots",
        [],
        "More folders of transcripts, each with a `path` and a `label`: another machine's synced folder, WSL, a "
        "backup. Folders first seen through CLAUDE_CONFIG_DIR are noted here: an app started at login finds them too.",
        default_words="the found ones",
    ),
    Setting(
        "transcripts.exclude_projects",
        "patterns",
        [],
        "Working directories that are never indexed nor archived; `*` and `?` are wildcards, `~` is the home folder.",
    ),
    Setting(
        "time_zone",
        "zone",
        None,
        'The zone of days, as an IANA name ("Europe/Berlin"); "system" follows the machine.',
        default_words="system",
    ),
    Setting(
        "search.semantic_wait_s",
        "seconds",
        3.0,
        "How many seconds a cold model may delay an answer before the keyword part is given alone.",
        minimum=0,
        maximum=60,
    ),
    Setting("embedding.enabled", "flag", True, "Search by meaning. Off: no model is ever loaded."),
    Setting(
        "embedding.threads",
        "count",
        None,
        "How many threads the embedding model may use.",
        default_words="half of the cores",
        minimum=1,
        maximum=256,
    ),
    Setting(
        "embedding.idle_unload_minutes",
        "count",
        10,
        "After how many idle minutes the model gives its memory back.",
        minimum=1,
        maximum=1440,
    ),
    Setting("embedding.on_battery", "flag", False, "Embed new messages while the machine runs on battery."),
    Setting(
        "embedding.model",
        "text",
        BUNDLED_MODEL,
        'The embedding model: "bundled", or a folder with a sentence-transformers model. Another model means that '
        "everything is embedded anew.",
    ),
    Setting(
        "archive.enabled",
        "flag",
        True,
        "Keep a copy of each transcript: Claude Code deletes its own.",
    ),
    Setting(
        "privacy.redact",
        "flag",
        True,
        "Replace secrets (keys, tokens, passwords) in the index and in replies. The archive stays exact.",
    ),
    Setting(
        "privacy.projects_apart",
        "patterns",
        [],
        "Projects that answer only when asked from inside them or by name.",
    ),
    Setting(
        "usage.prices",
        "prices",
        {},
        "Own prices by model, in US dollars per million tokens: `input` and `output`, and where they differ from the "
        "usual shares of `input` also `cache_write_5m`, `cache_write_1h`, `cache_read`.",
    ),
    Setting(
        "hotkey",
        "text",
        None,
        "The keys that show and hide the search window, anywhere.",
        default_words="Ctrl+Shift+Space (Ctrl+Option+Space on macOS)",
    ),
    Setting("autostart", "flag", False, "Start the app when you log in."),
    Setting("theme", "choice", "system", "Light, dark, or what the system says.", choices=("system", "light", "dark")),
)


@dataclass(frozen=True, slots=True)
class SettingProblem:
    """Something in the file that was not taken as written."""

    what: str
    """One sentence for the person."""
    key: str | None = None
    """The setting concerned; None: the whole file."""


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    """What a settings file says, and what was wrong with it."""

    settings: Settings
    problems: tuple[SettingProblem, ...] = ()


def load_settings(path: Path, *, clock: Clock | None = None) -> LoadedSettings:
    """Read the settings file. A missing one means defaults.

    A file that is no TOML or no UTF-8 is renamed to `settings.toml.unreadable-<date>` and reported. Keys this version
    does not know stay in the file; one that looks like a misspelt key is reported.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return LoadedSettings(Settings())
    except OSError as error:
        what = f"{path} cannot be read ({error.strerror}): the defaults are used."
        return LoadedSettings(Settings(), (SettingProblem(what),))
    try:
        document = tomllib.loads(data.decode("utf-8-sig"))
    except ValueError as error:
        return LoadedSettings(Settings(), (_move_aside(path, error, clock or SystemClock()),))
    return read_settings(document)


def read_settings(document: Mapping[str, Any]) -> LoadedSettings:
    """Return the settings of a parsed file. Each wrong value falls back to its default by itself."""
    values: dict[str, Any] = {}
    problems: list[SettingProblem] = []
    for setting in SETTINGS:
        present, raw = _look_up(document, setting.key)
        if not present:
            continue
        try:
            values[setting.name], complaints = read_value(setting, raw)
        except WrongValue as error:
            what = f"{setting.key} {error}. You wrote {raw!r}. The default is used ({default_in_words(setting)})."
            problems.append(SettingProblem(what, setting.key))
        else:
            problems.extend(SettingProblem(f"{setting.key}: {each}", setting.key) for each in complaints)
    problems.extend(_misspelt(document))
    return LoadedSettings(
        Settings(**{name: value for name, value in values.items() if value is not None}), tuple(problems)
    )


def save_setting(path: Path, key: str, value: Any) -> None:
    """Change one key of the file, or take it out when the value is None (back to the default).

    Comments, order, formatting and unknown keys are kept. The file is replaced atomically.

    Args:
        path: The settings file; it and its folder are created when missing.
        key: A key of `SETTINGS`.
        value: In the form the file has: bool, int, float, str, list of str, list of `{path, label}`, table of prices;
            `RootSetting`s and `PriceSetting`s are taken as well.

    Raises:
        InvalidArgument: There is no such key, or the value is not of its kind.
        ConfigurationRefused: The file as it stands is no TOML; it was left as it is.
        OSError: It cannot be written.
    """
    import tomlkit  # noqa: PLC0415 - 30 ms that every start would pay, and only writing needs it
    from tomlkit.exceptions import TOMLKitError  # noqa: PLC0415 - as above

    setting = setting_of(key)
    plain = _plain(value)
    if plain is not None:
        try:
            _, complaints = read_value(setting, plain)
        except WrongValue as error:
            raise InvalidArgument("Wrong value", f"{key} {error}. You sent {value!r}.") from error
        if complaints:
            raise InvalidArgument("Wrong value", f"{key}: {complaints[0]}")
    text = path.read_bytes().decode("utf-8-sig", errors="strict") if path.exists() else ""
    try:
        document = tomlkit.parse(text)
        changed = _changed(document, key.split("."), plain)
        written = tomlkit.dumps(document)
        data = written.encode()  # fails on a path that is no Unicode, which TOML cannot hold
        present, read_back = _look_up(tomllib.loads(written), key)
    except (TOMLKitError, ValueError) as error:
        raise ConfigurationRefused(
            "The settings file cannot be changed",
            f"{path} or the new value is not valid TOML: {error}.",
            "Repair it in an editor, or remove it to start with the defaults.",
        ) from error
    if (read_back if present else None) != plain:
        raise ConfigurationRefused(
            "The settings file cannot be changed",
            f"{key} cannot be written into {path} without touching the rest of it.",
            f"Change {key} in an editor.",
        )
    if changed:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_atomically(path, data)


def setting_of(key: str) -> Setting:
    """Return the table's row of a key.

    Raises:
        InvalidArgument: There is no such key; the nearest ones are named.
    """
    for setting in SETTINGS:
        if setting.key == key:
            return setting
    near = tuple(difflib.get_close_matches(key, [each.key for each in SETTINGS], n=3, cutoff=0.5))
    hint = f"Did you mean {near[0]}?" if near else "docs/settings.md lists them all."
    raise InvalidArgument("No such setting", f"There is no setting {key!r}.", hint, candidates=near)


def default_in_words(setting: Setting) -> str:
    """Return the default as the documentation and the settings window show it."""
    if setting.default_words:
        return setting.default_words
    if isinstance(setting.default, bool):
        return "true" if setting.default else "false"
    return f'"{setting.default}"' if isinstance(setting.default, str) else f"{setting.default}".removesuffix(".0")


def _look_up(document: Mapping[str, Any], key: str) -> tuple[bool, Any]:
    """Return whether the key is there, and its value."""
    node: Any = document
    for part in key.split("."):
        if not isinstance(node, dict) or part not in node:
            return False, None
        node = cast("dict[str, Any]", node)[part]
    return True, node


def _misspelt(document: Mapping[str, Any]) -> list[SettingProblem]:
    """Report keys that are nearly one of ours; entirely unknown ones may belong to a newer version."""
    known = [each.key for each in SETTINGS]
    tables = {key.partition(".")[0] for key in known if "." in key}
    written: list[str] = []
    for name, value in document.items():
        if isinstance(value, dict) and (name in tables or name not in known):
            written.extend(f"{name}.{inner}" for inner in cast("dict[str, Any]", value))
        else:
            written.append(name)
    problems: list[SettingProblem] = []
    for key in written:
        if key in known:
            continue
        near = difflib.get_close_matches(key, known, n=1, cutoff=0.8)
        if near:
            problems.append(SettingProblem(f"{key} is not a setting and has no effect. Did you mean {near[0]}?", key))
    return problems


def moved_aside(path: Path) -> Path | None:
    """Return the last settings file that could not be read and still lies beside where it was."""
    return max(path.parent.glob(f"{path.name}{_ASIDE}*"), default=None)


def _move_aside(path: Path, error: ValueError, clock: Clock) -> SettingProblem:
    stamp = datetime.fromtimestamp(clock.now(), UTC).strftime("%Y%m%dT%H%M%SZ")
    aside = path.with_name(f"{path.name}{_ASIDE}{stamp}")
    try:
        path.rename(aside)
    except OSError as failure:
        return SettingProblem(
            f"{path} is not valid TOML ({error}) and could not be moved aside ({failure.strerror}). "
            "The defaults are used."
        )
    return SettingProblem(f"{path} is not valid TOML ({error}). It was moved to {aside.name}: the defaults are used.")


def _plain(value: Any) -> Any:
    """Return the form the file has."""
    if isinstance(value, RootSetting):
        return {"path": value.path, "label": value.label}
    if isinstance(value, (list, tuple)):
        items = cast("list[Any]", list(value))  # pyright: ignore[reportUnknownArgumentType] - narrowed from Any
        if items and all(isinstance(each, PriceSetting) for each in items):
            return {each.model: _price_table(each) for each in items}
        return [_plain(each) for each in items]
    return value


def _price_table(price: PriceSetting) -> dict[str, float]:
    named = {each.name: getattr(price, each.name) for each in fields(price) if each.name != "model"}
    return {name: value for name, value in named.items() if value is not None}


def _changed(document: Any, parts: list[str], value: Any) -> bool:
    """Set (or take out) the value at the end of the path, making the tables on the way. Return whether it changed."""
    import tomlkit  # noqa: PLC0415 - as in save_setting

    node = document
    for part in parts[:-1]:
        if part not in node:
            if value is None:
                return False
            node[part] = tomlkit.table()
        node = node[part]
        if not _is_table(node):
            raise ValueError(f"{part} is not a table")
    name = parts[-1]
    if value is None:
        return node.pop(name, None) is not None
    if name in node and node[name] == value and type(node[name].unwrap()) is type(value):
        return False
    node[name] = value
    return True


def _is_table(value: object) -> bool:
    return isinstance(value, MutableMapping)
