"""Displays of clusterings, like those of scikit-learn. They need matplotlib."""

from .._utils.palette import NOISE_COLOUR, cluster_colours
from ._auto import AutoDisplay
from ._clusters import ClusterDisplay
from ._growth import GrowthDisplay
from ._merge_tree import MergeTreeDisplay
from ._profile import ProfileDisplay
from ._similarity import SimilarityDisplay
from ._sweep import SweepDisplay

__all__ = [
    "NOISE_COLOUR",
    "AutoDisplay",
    "ClusterDisplay",
    "GrowthDisplay",
    "MergeTreeDisplay",
    "ProfileDisplay",
    "SimilarityDisplay",
    "SweepDisplay",
    "cluster_colours",
]
