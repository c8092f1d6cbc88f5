"""Tokens and cost: the period, the chart of models over time, and the numbers to copy."""
