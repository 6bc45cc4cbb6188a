"""The command line: one command in each file, thin over the library.

Modules here import nothing heavy when loaded, so that help and completion answer at once.
"""
