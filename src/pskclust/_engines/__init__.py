"""Rows in memory, on disk or merged, behind one set of verbs."""
