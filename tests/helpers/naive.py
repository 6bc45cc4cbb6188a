"""psKC in plain loops: the oracle that all tests of labels compare with.

Nothing here is fast, shared with the package, or clever. Weights are repeated rows. Cells come
from the centres (or balls, or trees) that a fitted kernel drew, since draws are random.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

MAX_REFINEMENT_PASSES = 3


def squared_distance(x, z):
    total = 0.0
    for a, b in zip(x, z, strict=True):
        total += (a - b) * (a - b)
    return total


def voronoi_cell(x, centres):
    best, nearest = 0, squared_distance(x, centres[0])
    for number, centre in enumerate(centres):
        distance = squared_distance(x, centre)
        if distance < nearest:
            best, nearest = number, distance
    return best


def hypersphere_cell(x, centres):
    """Return the nearest centre whose ball holds x; None if no ball does."""
    best, nearest = None, math.inf
    for number, centre in enumerate(centres):
        others = [other for place, other in enumerate(centres) if place != number]
        radius = min(squared_distance(centre, other) for other in others)
        distance = squared_distance(x, centre)
        if distance <= radius and distance < nearest:
            best, nearest = number, distance
    return best


def tree_cell(x, feature, threshold, target):
    node = 0
    while feature[node] >= 0:
        node = node + 1 if x[feature[node]] < threshold[node] else target[node]
    return int(target[node])


@dataclass
class Clustering:
    labels: list
    growth_steps: list
    seeds: list
    n_steps: list
    objective_before: float = 0.0
    objective: float = 0.0
    fell_out: bool = False
    members: list = field(default_factory=list)


class PointSetKernel:
    """K-hat of rows, given as tuples of cells; None is no cell, which nobody shares."""

    def __init__(self, cells):
        self.cells = cells
        self.n_partitions = len(cells[0])

    def counts(self, members):
        counts = [{} for _ in range(self.n_partitions)]
        for row in members:
            for table, cell in zip(counts, self.cells[row], strict=True):
                if cell is not None:
                    table[cell] = table.get(cell, 0) + 1
        return counts

    def scores(self, rows, members):
        counts = self.counts(members)
        return {
            row: sum(
                table.get(cell, 0) for table, cell in zip(counts, self.cells[row], strict=True)
            )
            for row in rows
        }

    def similarities(self, rows, members):
        size = self.n_partitions * len(members)
        return {row: score / size for row, score in self.scores(rows, members).items()}


def first_of_highest(similarities):
    """Return the lowest row of those with the highest similarity."""
    highest = max(similarities.values())
    return min(row for row, value in similarities.items() if value == highest)


def grow(kernel, tau, growth_rate, *, literal):
    """Algorithm 1. `literal` takes line 12 at its word: members may fall out again."""
    n_rows = len(kernel.cells)
    unassigned = list(range(n_rows))
    result = Clustering([-1] * n_rows, [-1] * n_rows, [], [])
    while len(unassigned) > 1:
        x_p = first_of_highest(kernel.similarities(unassigned, unassigned))
        others = [row for row in unassigned if row != x_p]
        to_x_p = kernel.similarities(others, [x_p])
        x_q = first_of_highest(to_x_p)
        gamma = (1 - growth_rate) * to_x_p[x_q]
        if gamma <= tau:
            break
        members = [x_p, x_q]
        steps = {x_p: 0, x_q: 0}
        step = 0
        while gamma > tau:
            step += 1
            similarities = kernel.similarities(unassigned, members)
            passing = [row for row in unassigned if similarities[row] > gamma]
            result.fell_out |= not set(members) <= set(passing)
            members = passing if literal else sorted({*members, *passing})
            for row in members:
                steps.setdefault(row, step)
            gamma *= 1 - growth_rate
        for row in members:
            result.labels[row] = len(result.seeds)
            result.growth_steps[row] = steps[row]
        result.seeds.append(x_p)
        result.n_steps.append(step)
        result.members.append(members)
        unassigned = [row for row in unassigned if row not in set(members)]
    return result


def dissolve_small(kernel, result, min_cluster_size, tau):
    kept = [
        number for number, members in enumerate(result.members) if len(members) >= min_cluster_size
    ]
    before = [list(result.members[number]) for number in kept]
    new_members = [list(members) for members in before]
    for number, members in enumerate(result.members):
        if number in kept:
            continue
        for row in members:
            similar = {
                place: kernel.similarities([row], others)[row]
                for place, others in enumerate(before)
            }
            if similar and max(similar.values()) > tau:
                new_members[first_of_highest(similar)].append(row)
    result.members = new_members
    result.seeds = [result.seeds[number] for number in kept]
    result.n_steps = [result.n_steps[number] for number in kept]


def objective(kernel, clusters):
    """Gamma, Eq. 4: one exact fraction for each cluster, summed without error."""
    return math.fsum(
        sum(kernel.scores(members, members).values()) / (kernel.n_partitions * len(members))
        for members in clusters
    )


def refine(kernel, result, min_size):
    result.objective_before = result.objective = objective(kernel, result.members)
    for _ in range(MAX_REFINEMENT_PASSES):
        moves = refinement_moves(kernel, result.members, min_size)
        if not moves:
            return
        clusters = [list(members) for members in result.members]
        for row, old, new in moves:
            clusters[old].remove(row)
            clusters[new].append(row)
        gained = objective(kernel, clusters)
        if not gained > result.objective:
            return
        result.members, result.objective = clusters, gained


def refinement_moves(kernel, clusters, min_size):
    everybody = [row for members in clusters for row in members]
    to_cluster = [kernel.similarities(everybody, members) for members in clusters]
    inner = [
        sum(kernel.scores(members, members).values())
        / (kernel.n_partitions * len(members) * len(members))
        for members in clusters
    ]
    moves = []
    for old, members in enumerate(clusters):
        wishes = []
        for row in sorted(members, key=lambda row: to_cluster[old][row]):
            closeness = {
                number: 2 * to_cluster[number][row] - inner[number]
                for number in range(len(clusters))
            }
            best = first_of_highest(closeness)
            better = closeness[best] > closeness[old]
            wishes.append((to_cluster[old][row], row, best if better else old))
        staying = [similarity for similarity, _, new in wishes if new == old]
        limit = min(staying, default=math.inf)
        moves.append(
            [
                (row, old, new)
                for similarity, row, new in wishes
                if new != old and similarity < limit
            ]
        )
    return without_shrunken(clusters, moves, min_size)


def without_shrunken(clusters, moves, min_size):
    """Return all moves, but none out of a cluster that would be left too small by them."""
    while True:
        flat = [move for some in moves for move in some]
        sizes = [len(members) for members in clusters]
        for _, old, new in flat:
            sizes[old] -= 1
            sizes[new] += 1
        too_small = [
            number
            for number in range(len(clusters))
            if sizes[number] < min_size and sizes[number] < len(clusters[number])
        ]
        if not too_small:
            return flat
        for number in too_small:
            moves[number] = []


def most_similar(kernel, row, clusters, threshold):
    similar = {
        number: kernel.similarities([row], members)[row] for number, members in enumerate(clusters)
    }
    if not similar or not max(similar.values()) > threshold:
        return -1
    return first_of_highest(similar)


def pskc(
    cells,
    tau,
    growth_rate=0.1,
    *,
    refined=True,
    min_cluster_size=None,
    noise="keep",
    literal=False,
):
    """Return the clustering of rows given by their cells."""
    kernel = PointSetKernel(cells)
    result = grow(kernel, tau, growth_rate, literal=literal)
    dissolve_small(kernel, result, min_cluster_size or 0, tau)
    result.objective_before = result.objective = objective(kernel, result.members)
    if refined:
        refine(kernel, result, min_cluster_size or 1)
    labels = [-1] * len(cells)
    for number, members in enumerate(result.members):
        for row in members:
            labels[row] = number
    if noise == "nearest":
        labels = [
            most_similar(kernel, row, result.members, 0.0) if label < 0 else label
            for row, label in enumerate(labels)
        ]
    result.labels = labels
    return result


def link(tables):
    """Join the two most alike sets of parts until one is left.

    Return the pairs (parts first, then what was joined, in that order), and how alike they were.
    """
    sets = {part: [part] for part in range(len(tables))}
    numbers = dict(zip(sets, sets, strict=True))
    pairs, similarities = [], []

    def cosine(first, second):
        product = sum(a * b for a, b in zip(first, second, strict=True))
        own = sum(a * a for a in first) * sum(b * b for b in second)
        return product / math.sqrt(own)

    def total(parts):
        return [sum(tables[part][cell] for part in parts) for cell in range(len(tables[0]))]

    def alike(first, second):
        contact = max(cosine(tables[a], tables[b]) for a in first for b in second)
        return math.sqrt(cosine(total(first), total(second)) * contact)

    while len(sets) > 1:
        values = {(a, b): alike(sets[a], sets[b]) for a in sets for b in sets if a < b}
        first, second = max(values, key=lambda pair: (round(values[pair], 12), -pair[0], -pair[1]))
        pairs.append((numbers[first], numbers[second]))
        similarities.append(values[first, second])
        sets[first] += sets.pop(second)
        numbers[first] = len(tables) + len(pairs) - 1
    return pairs, similarities


def mean_maps(rows, groups, centres):
    """Return the share of each group in each Voronoi cell, groups in order of their names."""
    maps = []
    for name in sorted(set(groups)):
        members = [row for row, group in zip(rows, groups, strict=True) if group == name]
        counts = [
            sum(voronoi_cell(row, some) == cell for row in members)
            for some in centres
            for cell in range(len(some))
        ]
        maps.append([count / len(members) for count in counts])
    return maps
