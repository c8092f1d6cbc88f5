"""Turns texts into vectors: a worker process that holds the model, and the loop that feeds it. No SQL in here."""
