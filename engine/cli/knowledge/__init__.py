"""`backscroll knowledge`: what was decided on purpose, from a terminal. One file a verb; `rows` and `page` render."""
