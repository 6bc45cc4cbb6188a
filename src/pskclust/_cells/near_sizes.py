"""Sizes of the lists of near centres, from which their memory is known before they are made."""

from __future__ import annotations

import math

# With a larger share of near centres, most bounds have to be looked at anyway.
_MAX_SHARE = 1 / 16
# The first list aims at this many times the number of centres that are probably nearest, which
# suffices for 97% of rows of MNIST. It has room for more, because the limit is an estimate.
_TIMES_NEAR, _ROOM = 8, 2
_ENTRIES = 1 << 21
_MIN_ROWS, _MAX_ROWS = 64, 1024
_MIN_ROWS_AGAIN = 6
# The number of a centre and its bound.
_BYTES_PER_ENTRY = 8


def n_near(n_points: int, n_partitions: int, psi: int) -> int:
    """Return a number of near centres that probably include the nearest of each partitioning.

    Centres are drawn at random, so the nearest in a partitioning is the k-th nearest of all with a
    probability that falls by a factor of about 1 - psi / n_points with each k.
    """
    return max(1, int(2 * n_points / psi * (1 + math.log(n_partitions))))


def lists_pay(n_points: int, n_partitions: int, psi: int) -> bool:
    """Return whether near centres are few."""
    return n_near(n_points, n_partitions, psi) <= _MAX_SHARE * n_points


def entries_to_list(n_near: int, n_points: int) -> int:
    """Return the number of centres to list for each row at first."""
    return min(_TIMES_NEAR * n_near, n_points)


def room_of_list(n_listed: int, n_points: int) -> int:
    """Return the number of centres that the first list of a row has room for."""
    return min(_ROOM * n_listed, n_points)


def rows_at_a_time(n_listed: int) -> int:
    """Return the number of rows whose near centres are listed together."""
    return min(_MAX_ROWS, max(_MIN_ROWS, _ENTRIES // n_listed))


def rows_to_list_again(n_points: int) -> int:
    """Return the number of rows that are listed together when lists have room for all centres."""
    return max(_MIN_ROWS_AGAIN, _ENTRIES // n_points)


def bytes_of_lists(n_points: int, n_partitions: int, psi: int) -> int:
    """Return the size in bytes of the lists of one thread."""
    n_listed = entries_to_list(n_near(n_points, n_partitions, psi), n_points)
    first = (rows_at_a_time(n_listed) + _MIN_ROWS_AGAIN) * room_of_list(n_listed, n_points)
    again = (rows_to_list_again(n_points) + _MIN_ROWS_AGAIN) * n_points
    n_bytes: int = _BYTES_PER_ENTRY * max(first, again)
    return n_bytes
