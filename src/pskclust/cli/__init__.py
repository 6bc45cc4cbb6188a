"""The command line: one module for each command, a thin layer over the library.

Heavy packages are imported when a command runs, so that help and completion respond at once.
"""
