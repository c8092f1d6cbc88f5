"""Leaf room: errors, values, paths, settings, time and text that every other room may use. Imports no other room."""
