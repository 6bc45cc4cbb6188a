"""Explorer of clusters in a browser: a server and its page."""

from .launch import ExplorerServer, explore, serve

__all__ = ["ExplorerServer", "explore", "serve"]
