"""Families of tables: columns of latent factors, measurements, counts, and answers."""

from __future__ import annotations

import numpy as np
from numpy.random import default_rng

from .drawing import Drawn, classes_of, cluster_sizes, random_n_rows


def subspace(number: int) -> Drawn:
    """Return clusters in a few dimensions, projected to 20 to 500 noisy columns."""
    rng = default_rng(7000 + number)
    n_rows, k = random_n_rows(rng, 100, 3000), int(rng.integers(2, 16))
    n_rows = max(n_rows, 10 * k)
    d, n_latent = int(np.exp(rng.uniform(np.log(20), np.log(500)))), int(rng.integers(2, 15))
    sizes = cluster_sizes(rng, n_rows, k, rng.choice([1, 3, 8]))
    mixing = rng.normal(size=(n_latent, d)) / np.sqrt(n_latent)
    centres = rng.normal(size=(k, n_latent)) * rng.uniform(1.5, 3.5)
    parts = []
    for j in range(k):
        latent = rng.normal(size=(sizes[j], n_latent)) * np.exp(rng.normal(0, 0.3, n_latent))
        parts.append((centres[j] + latent) @ mixing)
    points = np.concatenate(parts)
    points = points + rng.uniform(0.1, 1) * rng.normal(size=points.shape)
    return (np.tanh(points) if rng.random() < 0.3 else points), classes_of(sizes)


def mixed(number: int) -> Drawn:
    """Return tables: latent factors behind plain, skewed, rounded and binary columns."""
    rng = default_rng(11000 + number)
    n_rows, k = random_n_rows(rng, 100, 3000), int(rng.integers(2, 11))
    n_rows, d = max(n_rows, 15 * k), int(rng.choice([4, 6, 8, 12, 18, 30, 60]))
    sizes = cluster_sizes(rng, n_rows, k, rng.choice([1, 3, 8]))
    n_latent = max(2, min(d, int(rng.integers(2, 8))))
    apart = rng.uniform(2, 4.5)
    parts = []
    for j in range(k):
        shear = rng.normal(size=(n_latent, n_latent))
        shear /= np.sqrt((shear * shear).sum(axis=0))
        rows = rng.normal(size=(sizes[j], n_latent)) @ (0.5 * np.eye(n_latent) + 0.5 * shear)
        parts.append(rows + apart * rng.normal(size=n_latent) / np.sqrt(n_latent) * 1.6)
    latent = np.concatenate(parts)
    mixing = rng.normal(size=(n_latent, d))
    mixing *= rng.random((n_latent, d)) < max(0.4, 1.5 / n_latent)
    rows = latent @ mixing + rng.uniform(0.2, 1) * rng.normal(size=(len(latent), d))
    form = rng.random(d)
    rest = np.where(form < 0.4, np.round(rows), np.where(form < 0.5, rows > 0.3, rows))
    return np.where(form < 0.15, np.exp(0.6 * rows), rest), classes_of(sizes)


def topics(number: int) -> Drawn:
    """Return unit vectors like embeddings of texts: topics, with a large common component."""
    rng = default_rng(12000 + number)
    n_rows, k = random_n_rows(rng, 400, 3000), int(rng.integers(3, 21))
    d = int(rng.choice([64, 128, 256, 384]))
    sizes = cluster_sizes(rng, n_rows, k, rng.choice([1, 5, 30]))
    n_latent = int(rng.integers(10, 40))
    basis, centres = rng.normal(size=(n_latent, d)), rng.normal(size=(k, n_latent))
    common = rng.normal(size=d) * rng.uniform(0, 1) * np.sqrt(n_latent)
    parts = []
    for j in range(k):
        topic = rng.uniform(0.5, 1.2, (sizes[j], 1)) * centres[j]
        own = rng.uniform(0.7, 1.3) * rng.normal(size=(sizes[j], n_latent))
        parts.append((topic + own) @ basis)
    rows = np.concatenate(parts) + common
    rows = rows + rng.uniform(0.3, 1) * np.sqrt(n_latent) * rng.normal(size=rows.shape)
    return rows / np.sqrt((rows * rows).sum(axis=1))[:, np.newaxis], classes_of(sizes)


def measured(number: int) -> Drawn:
    """Return measurements of a few groups: columns are correlated, mostly by overall size."""
    rng = default_rng(28_000 + number)
    k, d = int(rng.integers(2, 8)), int(rng.integers(4, 20))
    n_rows = max(random_n_rows(rng, 90, 2500), 20 * k)
    sizes = cluster_sizes(rng, n_rows, k, rng.choice([1, 2, 5]))
    common = rng.normal(size=(d, d)) / np.sqrt(d)
    size_axis, apart = np.abs(rng.normal(size=d)), rng.uniform(1.5, 3.5)
    parts = []
    for size in sizes:
        own = rng.normal(size=(d, d)) / np.sqrt(d)
        shape = 0.6 * common + 0.5 * own
        rows = rng.normal(size=(size, d)) @ shape
        overall = rng.uniform(0.3, 1.5) * rng.normal(size=(size, 1)) * size_axis
        centre = apart * rng.normal(size=d) * (rng.random(d) < 0.6)
        parts.append(rows + overall + centre)
    points = np.concatenate(parts)
    skewed = rng.random(d) < 0.3
    points = np.where(skewed, np.exp(0.35 * points), points)
    if rng.random() < 0.4:
        points = np.round(points, int(rng.integers(0, 3)))
    return points, classes_of(sizes)


def categories(number: int) -> Drawn:
    """Return one-hot columns of questions whose answers depend on the class, and some numbers."""
    rng = default_rng(27_000 + number)
    k, n_questions = int(rng.integers(2, 9)), int(rng.integers(6, 25))
    n_rows = max(random_n_rows(rng, 100, 2500), 15 * k)
    sizes = cluster_sizes(rng, n_rows, k, rng.choice([1, 3, 8]))
    clear = rng.uniform(0.4, 0.95)
    columns = []
    classes = classes_of(sizes)
    for _ in range(n_questions):
        n_answers = int(rng.choice([2, 2, 3, 4, 6]))
        common = rng.dirichlet(np.ones(n_answers))
        told = rng.random() < 0.8
        chances = [
            (1 - clear * told) * common + clear * told * rng.dirichlet(np.full(n_answers, 0.15))
            for _ in range(k)
        ]
        below = np.cumsum(chances, axis=1)[classes - 1]
        answers = (rng.random((len(classes), 1)) > below[:, :-1]).sum(axis=1)
        if n_answers == 2:
            columns.append(answers[:, np.newaxis])
        else:
            columns.append(np.eye(n_answers)[answers])
    for _ in range(int(rng.choice([0, 0, 2, 4]))):
        numbers = rng.normal(size=k)[classes - 1] + 0.6 * rng.normal(size=len(classes))
        columns.append(numbers[:, np.newaxis])
    points = np.concatenate(columns, axis=1).astype(np.float64)
    return points[:, np.ptp(points, axis=0) > 0], classes


def counts(number: int) -> Drawn:
    """Return counts, like those of genes or words, with different rates in each class."""
    rng = default_rng(26_000 + number)
    k, d = int(rng.integers(2, 13)), int(np.exp(rng.uniform(np.log(20), np.log(400))))
    n_rows = max(random_n_rows(rng, 120, 2500), 15 * k)
    sizes = cluster_sizes(rng, n_rows, k, rng.choice([1, 4, 15]))
    common = rng.gamma(0.6, 1, d) + 0.02
    share, change = rng.uniform(0.1, 0.5), rng.uniform(1.2, 2.5)
    parts = []
    for size in sizes:
        own = common * np.exp(change * rng.normal(size=d) * (rng.random(d) < share))
        depth = rng.uniform(2, 10) * np.exp(rng.uniform(0.1, 0.4) * rng.normal(size=(size, 1)))
        parts.append(rng.poisson(depth * own * rng.gamma(8, 0.125, (size, d))))
    points = np.concatenate(parts).astype(np.float64)
    if rng.random() < 0.7:
        points = np.log1p(points)
    return points, classes_of(sizes)
