"""Loops over arrays: the NumPy reference, and compiled versions with the same results."""
