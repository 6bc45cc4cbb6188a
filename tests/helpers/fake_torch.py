"""A stand-in for PyTorch: all that cells on a device call, in NumPy, with faults on demand.

It shows how they deal with devices that are not at hand: those without float64, those that
round as badly as they may, and those that round worse.
"""

from __future__ import annotations

import contextlib
from types import SimpleNamespace

import numpy as np


class Tensor:
    def __init__(self, values):
        self.values = np.asarray(values)

    dtype = property(lambda self: self.values.dtype)
    shape = property(lambda self: self.values.shape)

    def to(self, where):
        return Tensor(self.values.astype(where)) if isinstance(where, type) else self

    def cpu(self):
        return self

    def numpy(self):
        return self.values

    def t(self):
        return Tensor(self.values.T)

    def index_select(self, axis, numbers):
        return Tensor(self.values.take(numbers.values, axis=axis))

    def reshape(self, *shape):
        return Tensor(self.values.reshape(*shape))

    view = reshape

    def unsqueeze(self, axis):
        return Tensor(np.expand_dims(self.values, axis))

    def min(self, dim):
        return Tensor(self.values.min(axis=dim)), Tensor(self.values.argmin(axis=dim))

    def sum(self, dim, dtype):
        return Tensor(self.values.sum(axis=dim, dtype=dtype))

    def logical_not_(self):
        return Tensor(~self.values)

    def __add__(self, other):
        return Tensor(self.values + other.values)

    def __gt__(self, other):
        return Tensor(self.values > getattr(other, "values", other))

    def __getitem__(self, index):
        parts = index if isinstance(index, tuple) else (index,)
        return Tensor(self.values[tuple(getattr(part, "values", part) for part in parts)])


class FakeTorch:
    """The module, with devices "cpu" and "fake"."""

    __version__ = "0.0"
    float32, float64, int32 = np.float32, np.float64, np.int32
    Tensor = Tensor

    def __init__(self, *, has_float64=True, is_old=False, error=None, precision="none"):
        """`error` returns what is added to a product, given the absolute value of its terms."""
        self.has_float64, self.error, self.n_products = has_float64, error, 0
        self.seen = set()
        products = SimpleNamespace() if is_old else SimpleNamespace(fp32_precision=precision)
        self.precision = precision
        self.products = None if is_old else products
        self.cuda = SimpleNamespace(device_count=lambda: 2)
        self.backends = SimpleNamespace(
            mps=SimpleNamespace(is_available=lambda: True),
            cuda=SimpleNamespace(matmul=products),
            mkldnn=SimpleNamespace(),
        )

    inference_mode = contextlib.nullcontext

    def device(self, name):
        if name not in ("cpu", "fake"):
            raise RuntimeError(f"Expected one of cpu, fake device type: {name}")
        return SimpleNamespace(type=name)

    def ones(self, n, *, device, dtype):
        if dtype is np.float64 and not self.has_float64:
            raise TypeError("Cannot convert a tensor to float64 on this device")
        return Tensor(np.ones(n, dtype))

    def empty(self, shape, *, dtype, device):
        if dtype == np.float64 and not self.has_float64:
            raise TypeError("Cannot convert a tensor to float64 on this device")
        return Tensor(np.full(shape, np.nan, dtype))

    def from_numpy(self, array):
        if array.dtype == np.float64 and not self.has_float64:
            raise TypeError("Cannot convert a tensor to float64 on this device")
        return Tensor(array)

    def nonzero(self, tensor):
        return Tensor(np.argwhere(tensor.values))

    def mm(self, left, right, *, out):
        self.n_products += 1
        self.seen.add(self.products.fp32_precision if self.products else self.precision)
        left, right = left.values.astype(np.float64), right.values.astype(np.float64)
        product = left @ right
        if self.error is not None:
            product = product + self.error(np.abs(left) @ np.abs(right))
        out.values[...] = product

    def get_float32_matmul_precision(self):
        return self.precision

    def set_float32_matmul_precision(self, precision):
        self.precision = precision
