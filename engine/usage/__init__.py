"""Exact tokens and cost: which API calls a transcript records, which of them count, what they cost, and reports.

Pure but for reading its own price file: rows come from and go to `engine.store`.
"""
