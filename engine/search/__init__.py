"""From a question to ranked hits: reading the query, matching words, correcting typos, snippets, and how it is told."""
