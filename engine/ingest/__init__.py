"""From files to batches: finds transcripts, reads what is new, hands it to the writer. Knows no SQL."""
