"""Invented text with the statistics of real sessions: how long texts are and how often words come back.

Words are written by hand, frequencies and lengths are measured: of 12,825 chunks of real transcripts 46 % hold the most
frequent word, 38 % the second, 25 % the tenth, 8 % the hundredth, 0.9 % the thousandth, and a third of the vocabulary
stands in one chunk only. Text is cut out of prepared rivers, so making it costs a copy; identifiers and hashes that
were never said before are added to each, or the vocabulary would stop growing.
"""

from __future__ import annotations

import itertools
from bisect import bisect
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator, Sequence

COMMON = """the to a and in is of it for that this with on file i we not be you as are now test let from if error code
so can has by an no or all at but add run use when new line check function which need have was will just then they only
what fix name there first do out up one more into see return set should also here change get work make does data than
because after still before these value type why how where time how
next same call build both other using"""
ROOTS = """archive branch cache chunk client cluster column commit compile config connect container cursor daemon debug
decode deploy detect device digest dispatch driver embed encode event export fetch filter flag flush folder format
frame gateway handle hash header host import index ingest insert install invoice join kernel launch layer ledger limit
load lock log match measure merge message migrate model module monitor mount node notify offset order pack page parse
patch path payload permission pipe plan poll pool print process profile project proxy prune publish push query queue
read record redirect refactor refresh register release remove rename render replay report request resolve restart
restore retry rotate route sample save scan schedule schema scroll search select send serve session shard signal sign
sort split stage start status store stream submit sync table tag target task thread throttle timeout token trace track
transform trigger update upload validate vector verify version walk warn watch widget window wire wrap write"""
ENDINGS = ("", "s", "ed", "ing", "er", "able", "ment", "or")
BEGINNINGS = ("", "re", "un", "pre", "sub", "auto", "multi")
OTHER_LANGUAGES = (
    "Warum läuft der Auftrag zweimal, wenn die Verbindung abbricht? Bitte prüfe zuerst die Warteschlange.",
    "Schreib die Tests so um, dass sie ohne Netz laufen, und räum danach auf.",
    "Pourquoi la requête reste bloquée quand le cache est vide ? Regarde le fichier de configuration.",
    "Ajoute une vérification avant la migration, et explique ce qui a changé.",
    "El servidor devuelve un error cuando la sesión caduca; revisa el registro y arréglalo.",
    "設定ファイルを読み込む前に、キャッシュを消してください。エラーの原因も調べて。",
    "テストが失敗する理由を説明して、修正案を出してください。",
    "请检查索引为什么没有更新，然后把结果写进日志。",
    "Почему очередь не очищается после перезапуска? Проверь журнал и исправь.",
)
TOKENS = 700_000
"""Of each river: 4 MB, in which few texts overlap."""


def vocabulary() -> list[str]:
    """Return about eight thousand words, most frequent first."""
    roots = ROOTS.split()
    words = [*dict.fromkeys(COMMON.split()), *roots]
    words += [root + ending for ending in ENDINGS[1:] for root in roots]
    words += [beginning + root + ending for beginning in BEGINNINGS[1:] for ending in ENDINGS[:4] for root in roots]
    pairs = [first + second.capitalize() for first, second in itertools.product(roots[::3], roots[1::3])]
    return list(dict.fromkeys(words + pairs))


def weights(count: int) -> Iterator[float]:
    """Yield how often each word is said: almost by 1/rank to the thousandth, falling faster after that."""
    for rank in range(count):
        yield 1 / (rank + 16) ** 0.9 if rank < 1_000 else 1_000**0.5 / (rank + 16) ** 1.4


@dataclass(frozen=True, slots=True)
class Lengths:
    """How long something is: values at rising shares of all, straight lines between them."""

    shares: tuple[float, ...]
    values: tuple[int, ...]

    def draw(self, chance: random.Random) -> int:
        """Return a length."""
        share = chance.random()
        at = min(max(1, bisect(self.shares, share)), len(self.shares) - 1)
        low, high = self.shares[at - 1], self.shares[at]
        return int(self.values[at - 1] + (self.values[at] - self.values[at - 1]) * (share - low) / (high - low))


SHARES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1.0)
PROMPT = Lengths(SHARES, (4, 12, 34, 85, 181, 285, 725, 6_000, 15_000))
ANSWER = Lengths(SHARES, (20, 66, 91, 138, 342, 1_068, 1_532, 3_267, 9_000))
THOUGHT = Lengths(SHARES, (60, 120, 200, 420, 1_100, 2_500, 4_000, 7_000, 20_000))
CALL = Lengths(SHARES, (5, 20, 50, 90, 250, 800, 1_700, 5_000, 25_000))
RESULT = Lengths(SHARES, (1, 8, 50, 180, 1_200, 3_500, 6_000, 16_000, 50_000))
INJECTED = Lengths(SHARES, (30, 80, 200, 700, 2_500, 5_000, 9_000, 11_000, 15_000))
"""Characters, as measured in real transcripts."""


class River:
    """A long text that pieces are cut out of."""

    def __init__(self, lines: Sequence[str], line_feed: str) -> None:
        self._text = line_feed.join(lines)
        self._starts = [0]
        for line in lines[:-1]:
            self._starts.append(self._starts[-1] + len(line) + len(line_feed))

    def cut(self, chance: random.Random, length: int) -> str:
        """Return about so many characters, of whole words, from the beginning of a line."""
        start = self._starts[int(chance.random() * len(self._starts))]
        end = self._text.rfind(" ", start, start + length + 1)
        return self._text[start : end if end > start else start + length]


class Speech:
    """Makes texts of each kind. The same chance gives the same texts."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self.words = vocabulary()
        self._weights = list(itertools.accumulate(weights(len(self.words))))
        self._prose = River([f"{' '.join(each)}." for each in self._lines(7, 16)], " ")
        self._code = River([self._code_line(each) for each in self._lines(4, 5)], "\n")
        self._output = River([self._output_line(each) for each in self._lines(5, 8)], "\n")

    def prompt(self) -> str:
        """Return what a person types; one in twelve is not English."""
        if self._chance.random() < 1 / 12:
            return self._chance.choice(OTHER_LANGUAGES)
        return self._prose.cut(self._chance, PROMPT.draw(self._chance))

    def answer(self) -> str:
        """Return what Claude says."""
        return self._rare(self._prose.cut(self._chance, ANSWER.draw(self._chance)))

    def thought(self) -> str:
        """Return what Claude thinks."""
        return self._prose.cut(self._chance, THOUGHT.draw(self._chance))

    def injected(self) -> str:
        """Return what Claude Code puts in."""
        return self._prose.cut(self._chance, INJECTED.draw(self._chance))

    def code(self) -> str:
        """Return what is written into a file or run."""
        return self._rare(self._code.cut(self._chance, CALL.draw(self._chance)))

    def result(self) -> str:
        """Return what a tool prints: a listing of a file, or the output of a command."""
        river = self._code if self._chance.random() < 0.4 else self._output
        return self._rare(river.cut(self._chance, RESULT.draw(self._chance)))

    def _rare(self, text: str) -> str:
        """Add what nobody said before: a hash, a number, an identifier; more of them to a longer text."""
        chance = self._chance
        bits = chance.getrandbits(64)
        added = f"{text} {bits:x}"
        if len(text) > 300:
            words = self.words
            first, second = words[bits % len(words)], words[bits // 9_973 % len(words)]
            added += f" {first}{second.capitalize()}{bits % 97} {bits % 99_991}"
        return added

    def _lines(self, shortest: int, longest: int) -> Iterator[list[str]]:
        said = self._chance.choices(self.words, cum_weights=self._weights, k=TOKENS)
        at = 0
        while at < TOKENS - longest:
            count = self._chance.randint(shortest, longest)
            yield said[at : at + count]
            at += count

    def _code_line(self, said: list[str]) -> str:
        form: Callable[..., str] = self._chance.choice(
            (
                "    {0}_{1} = {2}({3}, {4})".format,
                "def {0}_{1}({2}, {3}):".format,
                "        if {0}.{1} is not {2}: return {3}".format,
                'import {0} from "{1}/{2}.py"  # {3} {4}'.format,
                "    # {0} {1} {2} {3}".format,
            )
        )
        return form(*said, "none", "value", "self")

    def _output_line(self, said: list[str]) -> str:
        form: Callable[..., str] = self._chance.choice(
            (
                "src/{0}/{1}.py:{n}: {2} {3} {4}".format,
                "2026-0{m}-1{m} 10:{n}:07 INFO {0} {1} {2} {3}".format,
                "drwxr-xr-x {n} dev dev 4096 {0}/{1}/{2}".format,
                "{0} {1} {2} {3} {4}".format,
                "  at {0}.{1} ({2}.ts:{n}:{m}) {3}".format,
            )
        )
        return form(*said, n=self._chance.randint(10, 999), m=self._chance.randint(1, 9))
