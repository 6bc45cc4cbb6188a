"""Loops over arrays, and nothing else: no classes of this package, no allocation of results."""
