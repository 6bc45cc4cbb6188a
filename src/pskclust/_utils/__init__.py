"""Helpers without any knowledge of clustering: files, memory, threads, progress."""
