"""Engines for rows in memory, on disk or with equal rows merged, all with the same interface."""
