from __future__ import annotations

import pytest
from rich.console import Console
from rich.text import Text
from rich.theme import Theme

from engine.cli.output import THEME
from engine.cli.tables import Column, fitted, room_for, tail

COLUMNS = (
    Column("Last"),
    Column("Project", gives_way=True, is_path=True, at_most=12),
    Column("Messages", right=True),
    Column("Title", gives_way=True),
)
ROW = (Text("2026-03-04"), Text("/srv/shelfmark/web"), Text("1,234"), Text("A title that is rather long"))


def lines(width: int, *rows: tuple[Text, ...]) -> list[str]:
    console = Console(width=width, theme=Theme(THEME))
    with console.capture() as captured:
        console.print(fitted(COLUMNS, rows or (ROW,), width))
    return [line.rstrip() for line in captured.get().splitlines()]


def test_with_room_nothing_is_cut() -> None:
    assert lines(100) == [
        "Last        Project             Messages  Title",
        "2026-03-04  /srv/shelfmark/web     1,234  A title that is rather long",
    ]


def test_what_gives_way_is_cut_and_nothing_else() -> None:
    assert lines(60)[1] == "2026-03-04  …elfmark/web     1,234  A title that is rather …"


@pytest.mark.parametrize("width", range(44, 80))
def test_a_line_is_never_wider_than_the_terminal(width: int) -> None:
    assert all(Text(line).cell_len <= width for line in lines(width))
    assert all("2026-03-04" in line and "1,234" in line for line in lines(width)[1:])


def test_wide_characters_count_twice() -> None:
    wide = (Text("2026-03-04"), Text("/srv"), Text("1"), Text("認証の書き直しとデータベース移行計画"))
    assert Text(lines(50, wide)[1]).cell_len <= 50
    assert tail("認証の書き直し", 7) == "…き直し"


def test_a_table_without_rows_is_as_wide_as_its_names() -> None:
    assert room_for(COLUMNS, [], 100) == [4, 7, 8, 5]


def test_of_a_path_the_end_stays() -> None:
    assert (tail("/srv/shelfmark/web", 10), tail("/srv", 10)) == ("…fmark/web", "/srv")
