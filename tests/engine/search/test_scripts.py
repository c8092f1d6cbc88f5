"""Words are found, and marked, in whatever script they are written."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Any

import pytest

from engine.core.paths import Paths
from tests.helpers.engines import running_engine
from tests.helpers.transcripts import TranscriptBuilder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.service import Engine

SENTENCES = {
    "Amharic": "ውሳኔው ተመዝግቧል።",
    "Arabic": "قررنا تدوير الرموز، كُلُّ رمز صالح مرة واحدة.",
    "Armenian": "Մենք որոշեցինք պտտել բանալիները։",
    "Bengali": "আমরা চাবি ঘোরানোর সিদ্ধান্ত নিয়েছি।",
    "Burmese": "သော့ကိုပြောင်းရန်ဆုံးဖြတ်ခဲ့သည်",
    "Chinese": "我们决定轮换密钥，数据库的锁已经解决。",
    "Czech": "Příliš žluťoučký kůň úpěl ďábelské ódy.",
    "French": "L'œuvre déjà là, ça marche.",
    "Georgian": "გადავწყვიტეთ გასაღებების როტაცია",
    "German": "Die Größe der Straße änderte sich.",
    "Greek": "Αποφασίσαμε να αλλάξουμε τα κλειδιά.",
    "Hebrew": "החלטנו לסובב מפתחות, שָׁלוֹם לבית־ספר.",
    "Hindi": "हमने कुंजी घुमाने का निर्णय लिया।",
    "Japanese": "鍵を回すことに決めました。データベースのロックが原因です。",
    "Khmer": "យើងសម្រេចប្តូរសោ",
    "Korean": "열쇠를 돌리기로 결정했습니다.",
    "Lao": "ພວກເຮົາຕັດສິນໃຈປ່ຽນກະແຈ",
    "Persian": "کلیدها را می‌چرخانیم",
    "Polish": "Zażółć gęślą jaźń, łódź.",
    "Russian": "Мы решили вращать ключи, ёлка и йод.",
    "Tamil": "சாவிகளை மாற்ற முடிவு செய்தோம்.",
    "Thai": "เราตัดสินใจหมุนเวียนกุญแจ ฐานข้อมูลถูกล็อก",
    "Turkish": "Anahtarları döndürmeye karar verdik, İzmir.",
    "Ukrainian": "Їжак знайшов ґанок, під'їзд.",
    "Vietnamese": "Chúng tôi quyết định xoay vòng khóa.",
}
WITHOUT_SPACES = ("Burmese", "Chinese", "Japanese", "Khmer", "Lao", "Thai")


def session_of(language: str) -> str:
    return f"{list(SENTENCES).index(language):08d}-0000-4000-8000-000000000000"


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    folder = tmp_path_factory.mktemp("scripts")
    root = folder / "projects"
    for language, sentence in SENTENCES.items():
        builder = TranscriptBuilder(session_of(language), cwd=f"/home/dev/{language} проект")
        builder.prompt(sentence)
        builder.write(root)
    with running_engine(Paths.below(folder / "home"), root) as engine:
        yield engine


def hits(engine: Engine, query: str, **more: Any) -> dict[str, dict[str, Any]]:
    reply = engine.api.ask("keyword_search", {"query": query, "limit": 100, "fuzzy_fallback": False, **more})
    return {hit["session_id"]: hit for hit in reply["hits"]}


@pytest.mark.parametrize("language", SENTENCES)
def test_each_word_is_found_and_marked_however_it_is_typed(engine: Engine, language: str) -> None:
    for word in SENTENCES[language].split():
        spellings = {word, word.upper(), word.lower(), unicodedata.normalize("NFD", word)}
        for typed in spellings:
            hit = hits(engine, typed).get(session_of(language))
            assert hit is not None, typed
            assert hit["marks"], typed


@pytest.mark.parametrize("language", WITHOUT_SPACES)
def test_where_words_are_not_apart_any_piece_of_them_is_found(engine: Engine, language: str) -> None:
    sentence = SENTENCES[language]
    for length in (1, 2, 5):
        for start in range(len(sentence) - length + 1):
            piece = sentence[start : start + length]
            if all(character.isalpha() for character in piece):
                assert session_of(language) in hits(engine, piece), piece


@pytest.mark.parametrize(
    ("typed", "marked"),
    [
        ("كل", "كُلُّ"),  # without the points it is written with
        ("שלום", "שָׁלוֹם"),
        ("ספר", "ספר"),  # behind a maqaf, which is punctuation among the points
        ("ฐานข้อมูล", "ฐานข้อมูล"),  # a word inside a clause, its last mark included
        ("елка", "ёлка"),
        ("lodz", "łódź"),
        ("ızmır", "İzmir"),
        ("grösse", "Größe"),
        ("grosse", "Größe"),
    ],
)
def test_a_mark_covers_what_the_reader_sees_of_the_word(engine: Engine, typed: str, marked: str) -> None:
    found = [hit["snippet"][slice(*mark)] for hit in hits(engine, typed).values() for mark in hit["marks"]]

    assert found == [marked]


def test_a_project_is_found_in_any_script_and_case(engine: Engine) -> None:
    assert len(hits(engine, "ключи", project="ПРОЕКТ")) == 1
