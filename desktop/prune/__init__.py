"""Taking old sessions out, in two steps."""
