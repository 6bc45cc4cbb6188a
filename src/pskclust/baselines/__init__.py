"""The methods that the paper compares psKC with, as scikit-learn estimators."""

from ._density_peaks import DensityPeaks
from ._gaussian_pskc import GaussianPSKC
from ._kernel_kmeans import KernelKMeans
from ._mbscan import MBSCAN
from ._rcc import RCC
from ._sgl import SGL

__all__ = ["MBSCAN", "RCC", "SGL", "DensityPeaks", "GaussianPSKC", "KernelKMeans"]
