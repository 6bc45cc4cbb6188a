"""What a person can set on the page, checked."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, fields
from typing import Any

from .._data.defaults import choose_psi, choose_tau
from .._data.parameters import CLUSTERING_RULES, FLAG, check_parameters
from ..image.colour_spaces import COLOUR_SPACES

SCALINGS = ("none", "standard", "minmax")
MAX_PARTITIONS = 1000
MAX_PSI = 1 << 16
# Growth takes about log(tau) / growth_rate steps for each cluster.
MIN_GROWTH_RATE = 0.001
MIN_TAU = 1e-7
_WHOLE_NUMBERS = ("psi", "n_partitions", "random_state", "min_cluster_size")


@dataclass(frozen=True)
class Settings:
    """One setting of all controls. Names are those of PSKC where it has them."""

    psi: int
    tau: float
    growth_rate: float = 0.1
    n_partitions: int = 100
    random_state: int = 0
    min_cluster_size: int | None = None
    refine: bool = True
    metric: str = "euclidean"
    scaling: str = "none"
    color_space: str = "lab"

    @property
    def id(self) -> str:
        """A short name: equal settings have equal ones."""
        text = json.dumps(asdict(self), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of PSKC among them."""
        values = asdict(self)
        # "auto" refines clusters that grew, as all do here: recipes need not name it.
        values["refine"] = "auto" if self.refine else False
        return {
            name: value for name, value in values.items() if name not in ("scaling", "color_space")
        }

    @property
    def cells_key(self) -> tuple[Any, ...]:
        """What the cells of the rows depend on, and nothing else."""
        return (
            self.psi,
            self.n_partitions,
            self.random_state,
            self.metric,
            self.scaling,
            self.color_space,
        )

    @classmethod
    def of(cls, content: object) -> Settings:
        """Return the settings in a JSON object; raise ValueError in words for bad ones."""
        if not isinstance(content, dict):
            raise ValueError("settings must be a JSON object.")
        names = {field.name for field in fields(cls)}
        for name in content:
            if name not in names:
                raise ValueError(f"there is no setting {str(name)[:40]!r}.")
        for name in ("psi", "tau"):
            if name not in content:
                raise ValueError(f"{name} is missing.")
        settings = cls(**{name: _number(name, value) for name, value in content.items()})
        settings._check()
        return settings

    def _check(self) -> None:
        for name, kinds, least, most in (
            ("psi", int, 2, MAX_PSI),
            ("n_partitions", int, 1, MAX_PARTITIONS),
            ("growth_rate", float, MIN_GROWTH_RATE, 0.99),
            ("tau", float, MIN_TAU, 0.99),
            ("random_state", int, 0, 2**32 - 1),
        ):
            value = getattr(self, name)
            # A bool is an int to isinstance.
            if type(value) is not kinds or not least <= value <= most:
                kind = "a whole number" if kinds is int else "a number"
                raise ValueError(
                    f"{name}={_short(value)} must be {kind} from {least} to {most} here."
                )
        _check_one_of("scaling", self.scaling, SCALINGS)
        _check_one_of("color_space", self.color_space, COLOUR_SPACES)
        check_parameters({"refine": self.refine}, {"refine": (FLAG,)})
        for name in ("min_cluster_size", "metric"):
            check_parameters({name: getattr(self, name)}, {name: CLUSTERING_RULES[name]})


def first_settings(n_rows: int, *, is_image: bool = False, **given: Any) -> Settings:
    """Return where exploring starts: what is given, and what PSKC takes without linking."""
    if is_image:
        # As in the paper.
        psi, tau = 16, 0.1
    else:
        psi = choose_psi(n_rows)
        tau = choose_tau(psi)
    if given.get("psi", "auto") != "auto":
        psi = int(given["psi"])
        tau = tau if is_image else choose_tau(psi)
    if given.get("tau", "auto") != "auto":
        tau = float(given["tau"])
    others = {name: value for name, value in given.items() if name not in ("psi", "tau")}
    if others.get("refine") == "auto":
        others["refine"] = True
    return Settings.of({**others, "psi": psi, "tau": tau})


def _number(name: str, value: Any) -> Any:
    """Return a number of the type that the setting has: JSON has one type of number only."""
    if isinstance(value, float) and name in _WHOLE_NUMBERS and value.is_integer():
        return int(value)
    if type(value) is int and name in ("tau", "growth_rate"):
        return float(value)
    return value


def _check_one_of(name: str, value: object, values: tuple[str, ...]) -> None:
    if value not in values:
        raise ValueError(f"{name}={_short(value)} must be one of {', '.join(values)}.")


def _short(value: object) -> str:
    """Return a value for a message: whatever was sent, it is short."""
    text = repr(value)
    return text if len(text) <= 40 else text[:40] + "..."
