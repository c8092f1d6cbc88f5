"""Reading `ontology.yaml`: a store's own additions to the vocabulary, with a line number for every mistake."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.knowledge.evidence import FOLDER
from engine.knowledge.ontology import FIELD_TYPES, FieldRule, Ontology, TypeRule
from engine.knowledge.records import Issue
from engine.knowledge.yamltext import YamlRefused, read_mapping

if TYPE_CHECKING:
    from engine.knowledge.records import Kind
    from engine.knowledge.yamltext import YamlText, YamlValue

ONTOLOGY_FORMAT = "knowledge-ontology-v1"
ONTOLOGY_PATH = "ontology.yaml"
_SECTIONS: tuple[tuple[str, Kind], ...] = (("pages", "page"), ("claims", "claim"), ("relationships", "relationship"))


def read_ontology(text: str, base: Ontology) -> tuple[Ontology, tuple[Issue, ...]]:
    """Return the vocabulary with the file's rules over the base, and what is wrong with the file.

    A rule that is wrong is left out; a file that cannot be read leaves the base as it is.
    """
    try:
        yaml = read_mapping(text)
    except YamlRefused as error:
        return base, (Issue("ontology_unreadable", error.problem, ONTOLOGY_PATH, error.line),)
    return _Reader(yaml, base).read()


class _Reader:
    def __init__(self, yaml: YamlText, base: Ontology) -> None:
        self._yaml = yaml
        self._base = base
        self._issues: list[Issue] = []

    def read(self) -> tuple[Ontology, tuple[Issue, ...]]:
        values = self._yaml.values
        if values.get("format") != ONTOLOGY_FORMAT:
            self._wrong("format", f"format must be {ONTOLOGY_FORMAT}")
            return self._base, tuple(self._issues)
        known = {"format", "extends", "paths", *(section for section, _ in _SECTIONS)}
        for key in values.keys() - known:
            self._wrong(key, f'unknown key "{key}"')
        extends = values.get("extends", "default")
        if extends not in ("default", "none"):
            self._wrong("extends", "extends must be default or none")
        start = () if extends == "none" else self._base.rules
        rules = {(rule.kind, rule.name): rule for rule in start}
        for section, kind in _SECTIONS:
            for name, body in self._mapping(values.get(section), section).items():
                rules[kind, name] = self._rule(kind, name, body, f"{section}.{name}", rules.get((kind, name)))
        prefixes = (*self._prefixes(values.get("paths")), *(() if extends == "none" else self._base.prefixes))
        chain = (ONTOLOGY_PATH,) if extends == "none" else (*self._base.chain, ONTOLOGY_PATH)
        return Ontology(tuple(rules.values()), prefixes, chain), tuple(self._issues)

    def _rule(self, kind: Kind, name: str, body: YamlValue, path: str, base: TypeRule | None) -> TypeRule:
        given = self._mapping(body, path)
        known = {"label", "description", "aliases", "folder", "fields", "from", "to"}
        for key in given.keys() - known:
            self._wrong(f"{path}.{key}", f'unknown key "{key}"')
        fields = tuple(
            (field, self._field(rule, f"{path}.fields.{field}"))
            for field, rule in self._mapping(given.get("fields"), f"{path}.fields").items()
        )
        base = base or TypeRule(name, kind)
        return TypeRule(
            name=name,
            kind=kind,
            label=self._text(given.get("label"), f"{path}.label") or base.label,
            description=self._text(given.get("description"), f"{path}.description") or base.description,
            aliases=self._texts(given.get("aliases"), f"{path}.aliases") if "aliases" in given else base.aliases,
            folder=self._folder(given.get("folder"), f"{path}.folder") or base.folder,
            fields=tuple({**dict(base.fields), **dict(fields)}.items()),
            start_types=self._texts(given.get("from"), f"{path}.from") if "from" in given else base.start_types,
            end_types=self._texts(given.get("to"), f"{path}.to") if "to" in given else base.end_types,
            origin=ONTOLOGY_PATH,
        )

    def _field(self, body: YamlValue, path: str) -> FieldRule:
        given = self._mapping(body, path)
        kind = given.get("type", "string")
        if not isinstance(kind, str) or kind not in FIELD_TYPES:
            self._wrong(f"{path}.type", f"a field's type is one of {', '.join(FIELD_TYPES)}")
            kind = "string"
        return FieldRule(
            type=kind,
            values=self._texts(given.get("values"), f"{path}.values"),
            required=given.get("required") is True,
            description=self._text(given.get("description"), f"{path}.description"),
        )

    def _prefixes(self, value: YamlValue) -> tuple[tuple[str, str], ...]:
        if value is None:
            return ()
        pairs: list[tuple[str, str]] = []
        for number, item in enumerate(value if isinstance(value, list) else [value]):
            prefix = item.get("prefix") if isinstance(item, dict) else None
            name = item.get("type") if isinstance(item, dict) else None
            if isinstance(prefix, str) and isinstance(name, str):
                pairs.append((prefix, name))
            else:
                self._wrong(f"paths.{number}", "a path rule has a prefix and a type")
        return tuple(pairs)

    def _folder(self, value: YamlValue, path: str) -> str | None:
        text = self._text(value, path)
        parts = text.split("/")
        if text and any(part in ("", ".", "..") or part.startswith(".") or "\\" in part for part in parts):
            self._wrong(path, "a folder is a plain path inside the vault")
            return None
        if parts[0].casefold() == FOLDER:
            self._wrong(path, f"no record is read from {FOLDER}")
            return None
        return text or None

    def _mapping(self, value: YamlValue, path: str) -> dict[str, YamlValue]:
        if value is None:
            return {}
        if isinstance(value, dict):
            return value
        self._wrong(path, "must be a mapping")
        return {}

    def _text(self, value: YamlValue, path: str) -> str:
        if value is None or isinstance(value, str):
            return value or ""
        self._wrong(path, "must be text")
        return ""

    def _texts(self, value: YamlValue, path: str) -> tuple[str, ...]:
        items = value if isinstance(value, list) else [] if value is None else [value]
        if all(isinstance(item, str) for item in items):
            return tuple(item for item in items if isinstance(item, str))
        self._wrong(path, "must be a list of texts")
        return ()

    def _wrong(self, path: str, message: str) -> None:
        lines, key = self._yaml.lines, path
        while key not in lines and "." in key:
            key = key.rpartition(".")[0]
        self._issues.append(Issue("ontology_invalid", f"{path}: {message}", ONTOLOGY_PATH, lines.get(key)))
