"""Backscroll's engine: watches, indexes, archives and answers. Never imports Qt and does nothing on import."""

__version__ = "0.1.0"
