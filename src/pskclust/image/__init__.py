"""Segmentation of images by colour, as in the paper: pixels are points in a colour space."""

from ._read import ImageFileError, read_image
from ._segment import segment
from ._segmentation import Segmentation

__all__ = ["ImageFileError", "Segmentation", "read_image", "segment"]
