"""Knowledge: Markdown records with evidence, supersession and dates; scan, validation, search, dated views, writing.

The files are the truth. This room never imports `mcp`, and opens no database itself (that is `engine.store`).
"""
