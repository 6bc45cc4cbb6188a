"""Exploring clusters in a browser: a server, and the page that it serves."""

from .launch import ExplorerServer, explore, serve

__all__ = ["ExplorerServer", "explore", "serve"]
