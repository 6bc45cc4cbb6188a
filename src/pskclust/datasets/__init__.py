"""Data sets: generators, and loaders for the data of the paper."""

from ._digits import iter_mnist8m_like, make_mnist8m_like
from ._generators import make_ring_g, make_shapes, make_varied_densities
from ._loaders import load_mnist, load_painting, load_paper_set
from ._trajectories import make_trajectories

__all__ = [
    "iter_mnist8m_like",
    "load_mnist",
    "load_painting",
    "load_paper_set",
    "make_mnist8m_like",
    "make_ring_g",
    "make_shapes",
    "make_trajectories",
    "make_varied_densities",
]
