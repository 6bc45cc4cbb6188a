"""Engines: rows in memory, on disk or merged, with one interface."""
