"""Table 5: groups of handwritten digits in MNIST, by psKC and by SGL."""

from __future__ import annotations

import numpy as np
from framework import Comparison, Outcome, Settings

from pskclust import PSKC
from pskclust.baselines import SGL
from pskclust.datasets import load_mnist

TITLE = "Table 5: MNIST, 70,000 digits"
PLACES = {
    "Table 5": "13 clusters of psKC hold 92% of the rows; the digits 1 and 2 are split by style, "
    "4 and 9 form three clusters, one of them mixed; SGL mixes more digits"
}
N_LARGEST, N_BINS = 13, 10
PURE = 0.85
SPLIT_IN_PAPER = {1, 2, 4, 9}


def run(settings: Settings) -> Outcome:
    outcome = Outcome()
    X, y = load_mnist(folder=settings.data)
    if settings.fast:
        X, y = X[::7], y[::7]
    model = PSKC(
        psi=5000,
        tau=1e-3,
        random_state=42,
        callback=lambda progress: settings.tell(0.9 * _share(progress)),
    ).fit(X)
    largest = np.argsort(-model.cluster_sizes_, kind="stable")[:N_LARGEST]
    counts = np.array([np.bincount(y[model.labels_ == c], minlength=10) for c in largest])
    purities = counts.max(axis=1) / counts.sum(axis=1)
    share = counts.sum() / len(X)
    n_pure = int((purities > PURE).sum())
    sgl = _by_sgl(X, y)
    sgl_pure = sgl.max(axis=1) / sgl.sum(axis=1) > PURE
    outcome.comparisons += [
        Comparison(
            "share of rows in the 13 largest clusters",
            "92%",
            f"{share:.1%}",
            share >= 0.88,
            "" if share >= 0.88 else f"{model.n_clusters_} clusters of {len(X):,} rows.",
        ),
        _pure_clusters(n_pure),
        _styles_of_one_digit(counts),
        Comparison(
            "pure clusters among the 10 of SGL",
            "0, 1, 2 and 8; the others mix digits",
            f"{sgl_pure.sum()} are more than {PURE:.0%} one digit: "
            + _listed(sgl[sgl_pure].argmax(axis=1)),
            bool(sgl_pure.mean() < n_pure / N_LARGEST),
            ""
            if sgl_pure.mean() < n_pure / N_LARGEST
            else f"{sgl_pure.mean():.0%} of SGL's clusters are pure, {n_pure / N_LARGEST:.0%} of "
            "the 13 of psKC.",
        ),
    ]
    outcome.findings["Table 5"] = (
        f"{share:.1%} of the rows are in the 13 largest clusters, {n_pure} of which are more than "
        f"{PURE:.0%} one digit; split digits: {_listed(_split(counts))}; {sgl_pure.sum()} of SGL's "
        "10 clusters are pure"
    )
    outcome.tables.append(_digit_table(largest, counts, purities))
    outcome.tables.append(_digit_table(np.arange(10), sgl, sgl.max(axis=1) / sgl.sum(axis=1)))
    outcome.picture(
        settings,
        "table5.png",
        _examples(X, model, largest),
        "The 13 largest clusters, one in each line: the most similar digit of each of ten "
        "equal-frequency bins, from most to least similar. On the right, digits outside these "
        "clusters (noise and small clusters), drawn at random.",
    )
    outcome.values = {
        "share_of_13_largest": share,
        "pure_of_13": n_pure,
        "pure_of_SGL": int(sgl_pure.sum()),
    }
    outcome.notes.append(
        f"{len(X):,} rows, psi 5000, tau 0.001, t 100, seed 42: {model.n_clusters_} clusters, "
        f"{(model.labels_ < 0).mean():.1%} noise. The first table shows the 13 largest clusters of "
        "psKC, the second the 10 clusters of SGL."
    )
    return outcome


def _share(progress) -> float:
    start, length = {"encode": (0, 0.85), "grow": (0.85, 0.1)}.get(progress.stage, (0.95, 0.05))
    return start + length * progress.done / max(1, progress.total)


def _by_sgl(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the number of rows of each digit in each of SGL's ten clusters."""
    labels = SGL(10, n_anchors=50, alpha=1, beta=1e-3, random_state=42).fit_predict(X)
    return np.array([np.bincount(y[labels == c], minlength=10) for c in range(10)])


def _pure_clusters(n_pure: int) -> Comparison:
    return Comparison(
        "clusters of one digit among the 13 largest",
        "12: all but one, a mixture of 4 and 9 (1 : 3)",
        f"{n_pure} are more than {PURE:.0%} one digit",
        n_pure >= 12,
        "" if n_pure >= 12 else f"Here, {N_LARGEST - n_pure} clusters are mixtures.",
    )


def _split(counts: np.ndarray) -> np.ndarray:
    """Return the digits that are the most frequent digit of more than one cluster."""
    return np.flatnonzero(np.bincount(counts.argmax(axis=1), minlength=10) > 1)


def _styles_of_one_digit(counts: np.ndarray) -> Comparison:
    repeated = _split(counts)
    same = set(repeated.tolist()) == SPLIT_IN_PAPER
    return Comparison(
        "digits that are the main digit of more than one of the 13 largest clusters, by style of "
        "writing",
        "1 and 2 (two styles each); 4 and 9 in three clusters",
        _listed(repeated),
        same,
        "" if same else f"At seed 42, the split digits are {_listed(repeated)}.",
    )


def _listed(digits: np.ndarray) -> str:
    return ", ".join(map(str, digits)) or "none"


def _digit_table(largest: np.ndarray, counts: np.ndarray, purities: np.ndarray) -> str:
    lines = ["| cluster | rows | main digit | purity | " + " | ".join(map(str, range(10))) + " |"]
    lines.append("|" + "---|" * 14)
    for cluster, row, purity in zip(largest, counts, purities, strict=True):
        digits = " | ".join(f"{count:,}" for count in row)
        lines.append(f"| {cluster} | {row.sum():,} | {row.argmax()} | {purity:.1%} | {digits} |")
    return "\n".join(lines)


def _examples(X: np.ndarray, model: PSKC, largest: np.ndarray):
    import matplotlib.pyplot as plt

    rng = np.random.RandomState(0)
    rows = []
    for cluster in largest:
        members = np.flatnonzero(model.labels_ == cluster)
        ranked = members[np.argsort(-model.similarities_[members], kind="stable")]
        rows.append([some[0] for some in np.array_split(ranked, N_BINS)])
    others = np.flatnonzero(~np.isin(model.labels_, largest))
    outside = rng.choice(others, (len(rows), 4), replace=len(others) < 4 * len(rows))
    gap = np.zeros((28 * len(rows), 14))
    left, right = (_mosaic(X, np.array(some)) for some in (rows, outside))
    figure, ax = plt.subplots(figsize=(8, 7), layout="constrained")
    ax.imshow(np.hstack([left, gap, right]), cmap="gray_r", vmin=0, vmax=255)
    ax.set_xticks([140, 28 * N_BINS + 14 + 56], ["13 largest clusters", "outside them"])
    ax.set_yticks(14 + 28 * np.arange(len(rows)), [str(cluster) for cluster in largest])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    return figure


def _mosaic(X: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    pictures = X[numbers].reshape(*numbers.shape, 28, 28)
    return pictures.transpose(0, 2, 1, 3).reshape(28 * numbers.shape[0], 28 * numbers.shape[1])
