"""PyTorch devices, opened by name, with matrix products in full float32 precision."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .optional import optional
from .parallel import ProcessSetting

_FULL, _INHERITED = "ieee", "none"
_PROBE_SHAPE = 256, 16


class Device(NamedTuple):
    """A PyTorch device that has passed a test product."""

    name: str
    torch: Any  # the module
    device: Any  # torch.device
    has_float64: bool  # Apple's devices have float32 only


@functools.cache
def open_device(name: str) -> Device:
    """Return the device of this name; raise ValueError if PyTorch cannot use it."""
    torch = optional("torch", f"device={name!r}", "torch")
    try:
        device = torch.device(name)
        # Some names have no usable device, and the device "meta" holds no values.
        torch.ones(1, device=device, dtype=torch.float32).cpu()
    except (AssertionError, RuntimeError) as error:
        raise ValueError(
            f"device={name!r} is not available in PyTorch {torch.__version__} on this machine. "
            f"Use one of {', '.join(_names_here(torch))}, or leave device out."
        ) from error
    opened = Device(name, torch, device, _has_float64(torch, device))
    _require_full_float32(opened)
    return opened


def full_precision(device: Device) -> ProcessSetting:
    """Return a context in which float32 products have full precision.

    Other code may have allowed TensorFloat-32 or bfloat16 for the whole process.
    """
    return _full_precision_of(device.torch)


def _names_here(torch: Any) -> list[str]:
    names = ["'cpu'", *(f"'cuda:{number}'" for number in range(torch.cuda.device_count()))]
    return [*names, "'mps'"] if torch.backends.mps.is_available() else names


def _has_float64(torch: Any, device: Any) -> bool:
    try:
        torch.ones(1, device=device, dtype=torch.float64)
    except (RuntimeError, TypeError):
        return False
    return True


def _require_full_float32(device: Device) -> None:
    """Raise RuntimeError if a test product is less exact than a float32 product has to be."""
    torch, (n_rows, n_columns) = device.torch, _PROBE_SHAPE
    left, right = np.random.RandomState(0).uniform(1, 2, (2, n_rows, n_columns)).astype(np.float32)
    with torch.inference_mode():
        product = torch.empty((n_rows, n_rows), dtype=torch.float32, device=device.device)
        there = [torch.from_numpy(factor).to(device.device) for factor in (left, right)]
        with full_precision(device):
            torch.mm(there[0], there[1].t(), out=product)
        found = product.cpu().numpy()
    exact = left.astype(np.float64) @ right.T.astype(np.float64)
    if not (np.abs(found - exact) <= n_columns * 2.0**-24 * exact).all():
        raise RuntimeError(
            f"device={device.name!r} multiplies with less precision than float32, so labels could "
            "differ from those of other devices. Use another device, or leave device out."
        )


@functools.cache
def _full_precision_of(torch: Any) -> ProcessSetting:
    return ProcessSetting(functools.partial(_set_full_precision, torch))


def _set_full_precision(torch: Any) -> Callable[[], None]:
    """Set float32 products to full precision; return a function that restores the setting."""
    backends = (torch.backends.cuda, torch.backends.mkldnn)
    products = [backend.matmul for backend in backends if hasattr(backend, "matmul")]
    products = [one for one in products if hasattr(one, "fp32_precision")]
    if not products:  # before PyTorch 2.9
        earlier = torch.get_float32_matmul_precision()
        torch.set_float32_matmul_precision("highest")
        return functools.partial(torch.set_float32_matmul_precision, earlier)
    before = [(one, one.fp32_precision) for one in products]
    changed = [(one, value) for one, value in before if value not in (_FULL, _INHERITED)]
    for one, _ in changed:
        one.fp32_precision = _FULL

    def restore() -> None:
        for one, value in changed:
            # A backend without a value of its own shows PyTorch's global value, which stays global.
            one.fp32_precision = _INHERITED
            if one.fp32_precision != value:
                one.fp32_precision = value

    return restore
