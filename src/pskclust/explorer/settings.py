"""Settings of the page, and their checks."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from .._data.defaults import choose_psi, choose_tau
from .._data.parameters import (
    CLUSTERING_RULES,
    DEFAULT_GROWTH_RATE,
    FLAG,
    NONE,
    check_parameters,
)
from .._data.scaling import SCALINGS
from ..image.colour_spaces import COLOUR_SPACES

MAX_PARTITIONS = 1000
MAX_PSI = 1 << 16
# Each cluster takes about -log(tau) / growth_rate steps, so small values take long.
MIN_GROWTH_RATE = 0.001
MIN_TAU = 1e-7
MAX_CLUSTERS = 10_000
# The paper's values for images.
_IMAGE_PSI, _IMAGE_TAU = 16, 0.1
_WHOLE_NUMBERS = (
    *("psi", "n_clusters", "layer", "n_partitions", "random_state", "min_cluster_size"),
)
_OF_THE_PAGE = ("layer", "scaling", "color_space")


@dataclass(frozen=True)
class Settings:
    """Values of all controls on the page; parameters of PSKC keep their names.

    As in PSKC, clusters grow if tau is set, and are chosen if tau is None, which means "auto".
    `layer` is the number of clusters of a layer of the fit; None shows the fit itself.
    """

    psi: int | None = None
    tau: float | None = None
    n_clusters: int | None = None
    growth_rate: float = DEFAULT_GROWTH_RATE
    n_partitions: int = 100
    random_state: int = 0
    min_cluster_size: int | None = None
    refine: bool | None = None
    noise: str = "keep"
    metric: str = "euclidean"
    scaling: str = "none"
    color_space: str = "lab"
    layer: int | None = None

    @property
    def id(self) -> str:
        """Short identifier, which is the same for equal settings."""
        text = json.dumps(asdict(self), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def is_grown(self) -> bool:
        """Whether clusters grow, as in the paper; if not, they are chosen."""
        return self.tau is not None

    @property
    def parameters(self) -> dict[str, Any]:
        """The settings that are parameters of PSKC."""
        values = asdict(self)
        for name in ("psi", "tau"):
            values[name] = "auto" if values[name] is None else values[name]
        # "auto" refines clusters that grew, so exported code need not set it.
        if self.refine is None or self.refine == self.is_grown:
            values["refine"] = "auto"
        if not self.is_grown:
            # PSKC refuses growth_rate without tau; the page keeps it until clusters grow again.
            values["growth_rate"] = DEFAULT_GROWTH_RATE
        return {name: value for name, value in values.items() if name not in _OF_THE_PAGE}

    @property
    def of_fit(self) -> Settings:
        """The settings of the fit itself, without a layer."""
        return replace(self, layer=None)

    @property
    def cells_key(self) -> tuple[Any, ...]:
        """The settings that the cells of the rows depend on."""
        if not self.is_grown:
            # The kernel of the cells belongs to this choice, so no other setting shares them.
            return (self.of_fit.id,)
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
        """Return the settings in a JSON object; raise ValueError if one is not allowed."""
        if not isinstance(content, dict):
            raise ValueError("settings must be a JSON object.")
        names = {field.name for field in fields(cls)}
        for name in content:
            if name not in names:
                raise ValueError(f"there is no setting {str(name)[:40]!r}.")
        settings = cls(**{name: _number(name, value) for name, value in content.items()})
        settings._check()
        return settings

    def _check(self) -> None:
        for name, kinds, least, most in (
            ("psi", int, 2, MAX_PSI),
            ("n_clusters", int, 1, MAX_CLUSTERS),
            ("layer", int, 1, MAX_CLUSTERS),
            ("n_partitions", int, 1, MAX_PARTITIONS),
            ("growth_rate", float, MIN_GROWTH_RATE, 0.99),
            ("tau", float, MIN_TAU, 0.99),
            ("random_state", int, 0, 2**32 - 1),
        ):
            value = getattr(self, name)
            if value is None and name in ("psi", "tau", "n_clusters", "layer"):
                continue
            # A bool is an instance of int.
            if type(value) is not kinds or not least <= value <= most:
                kind = "a whole number" if kinds is int else "a number"
                limits = f"{least} to {most}" if kinds is float else f"{least:,} to {most:,}"
                raise ValueError(f"{name}={_short(value)} must be {kind} from {limits}.")
        _check_one_of("scaling", self.scaling, SCALINGS)
        _check_one_of("color_space", self.color_space, COLOUR_SPACES)
        check_parameters({"refine": self.refine}, {"refine": (FLAG, NONE)})
        for name in ("min_cluster_size", "noise", "metric"):
            check_parameters({name: getattr(self, name)}, {name: CLUSTERING_RULES[name]})
        if self.metric == "haversine" and self.scaling != "none":
            raise ValueError(
                f"metric='haversine' needs degrees, which scaling={self.scaling!r} changes. Use "
                "scaling='none'."
            )
        self._check_growth()

    def _check_growth(self) -> None:
        if self.tau is None:
            return
        if self.psi is None:
            raise ValueError("psi is missing: clusters that grow need psi and tau.")
        if self.n_clusters is not None:
            raise ValueError(
                f"n_clusters={self.n_clusters} and tau={self.tau:g} cannot be explored together: "
                "growth finds the number of clusters. Leave one of them out."
            )


def first_settings(n_rows: int, *, is_image: bool = False, **given: Any) -> Settings:
    """Return the first settings: given values, and the defaults of PSKC for the rest.

    Clusters are chosen unless tau is given. Clusters of an image grow, as in the paper, unless
    their number is given.
    """
    auto = {name for name in ("psi", "tau", "refine") if given.get(name, "auto") == "auto"}
    values = {name: None if name in auto else value for name, value in given.items()}
    number = values.get("n_clusters")
    if is_image and number is None:
        values |= grown_values(n_rows, is_image=True) | _without_none(values)
    elif values.get("tau") is not None and values.get("psi") is None:
        values["psi"] = grown_values(n_rows)["psi"]
    return Settings.of(values)


def grown_values(n_rows: int, *, is_image: bool = False) -> dict[str, Any]:
    """Return the default psi and tau of clusters that grow."""
    if is_image:
        return {"psi": _IMAGE_PSI, "tau": _IMAGE_TAU}
    psi = choose_psi(n_rows)
    return {"psi": psi, "tau": choose_tau(psi)}


def _without_none(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _number(name: str, value: Any) -> Any:
    """Return a number in the type of the setting, because JSON has only one type."""
    if isinstance(value, float) and name in _WHOLE_NUMBERS and value.is_integer():
        return int(value)
    # A whole number that a float cannot hold exactly stays as it is, and is refused.
    if type(value) is int and name in ("tau", "growth_rate") and abs(value) < 1 << 53:
        return float(value)
    return value


def _check_one_of(name: str, value: object, values: tuple[str, ...]) -> None:
    if value not in values:
        raise ValueError(f"{name}={_short(value)} must be one of {', '.join(values)}.")


def _short(value: object) -> str:
    """Return a value as a short text for a message."""
    text = repr(value)
    return text if len(text) <= 40 else text[:40] + "..."
