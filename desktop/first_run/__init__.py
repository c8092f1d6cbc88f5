"""The one card of the first start."""
