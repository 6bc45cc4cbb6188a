"""Changes that no test can notice because they do not change any result, with the reasons.

The keys are the module, the line of code, and the change.
"""

_SCREEN = "a screen that is looser, or has other directions, leaves more cases to exact distances"
_LOOKED_AT = "more points than needed are checked, each by the same conditions"
_ORDER = "it changes only the order in which distances are computed"
_PIVOT = "the choice of the first value to compare with changes only the time"
_EXACT_SUM = "the exact sum is taken earlier, with the same result"

EQUIVALENT = {
    "_pskc/growth": {
        "if second.units <= engine.one:": {
            "second.units <= engine.one -> (second.units < engine.one)": "a row of weight 1 has "
            "no other copies, so their table is empty",
        },
    },
    "_pskc/refinement": {
        "engine.move(np.full(len(clusters) + 1, np.inf))": {
            "1 -> (2)": "the limit after the last label is never used",
        },
    },
    "_kernels/reference": {
        "if 8 * math.prod(shape) <= _LARGEST_DENSE_BYTES:": {
            "8 * math.prod(shape) <= _LARGEST_DENSE_BYTES -> "
            "(8 * math.prod(shape) > _LARGEST_DENSE_BYTES)": "both ways give the same table, "
            "with different time and memory",
        },
        "unsure = np.flatnonzero(np.count_nonzero(~(own2 > limit), axis=0) > 1)": {
            "np.count_nonzero(~(own2 > limit), axis=0) > 1 -> "
            "(np.count_nonzero(~(own2 > limit), axis=0) >= 1)": "rows that are "
            "certain are computed as well, by the same distances",
        },
    },
    "_kernels/screening": {
        "error[(reach < 1e-140) | (reach > farthest)] = np.inf": {
            "reach < 1e-140 -> (reach <= 1e-140)": _SCREEN,
        },
        "error = reach * reach * ((n_roundings + 32) * np.finfo(dtype).eps / 2)": {
            "32 -> (33)": _SCREEN,
        },
        "np.searchsorted(centres.ravel()[uses], np.arange(n_points + 1)),": {
            "1 -> (2)": "the end after the last point is never used",
        },
        "_POINTS_TO_FIND_DIRECTIONS = 4096": {"4096 -> (4097)": _SCREEN},
        "if n_columns < _MIN_COLUMNS_TO_ROTATE or n_points < _MIN_POINTS_TO_ROTATE:": {
            "n_columns < _MIN_COLUMNS_TO_ROTATE -> (n_columns >= _MIN_COLUMNS_TO_ROTATE)": _SCREEN,
        },
    },
    "_kernels/compiled": {
        "n_candidates[i] += 1": {"1 -> (2)": _SCREEN},
        "some = bound2[row, :: max(1, n_points // _SAMPLE)]": {
            "n_points // _SAMPLE -> (n_points * _SAMPLE)": _ORDER,
        },
        "n_wanted = 2 * n_points / psi * (1 + np.log(n_partitions))": {"2 -> (3)": _ORDER},
        "hit |= np.int32(bounds[place] > above) & np.int32(bounds[place] <= upto)": {
            "bounds[place] > above -> (bounds[place] >= above)": _LOOKED_AT,
            "np.int32(bounds[place] > above) & np.int32(bounds[place] <= upto) -> "
            "(np.int32(bounds[place] > above) | np.int32(bounds[place] <= upto))": _LOOKED_AT,
        },
    },
    "_kernels/neighbour_growth": {
        "best_place, best_score = np.int64(-1), np.int64(-1)": {
            "1 -> (2)": "no score is below 0, and the place is not used if there is no row",
        },
    },
    "_kernels/neighbour_labels": {
        "for place in range(min(BLOCK, n_rows - block * BLOCK)):": {
            "block * BLOCK -> (block / BLOCK)": "a short block is filled up with copies of a row",
        },
    },
    "_kernels/neighbour_order": {
        "while at > 0 and values[at - 1] > value:": {
            "values[at - 1] > value -> (values[at - 1] <= value)": _PIVOT,
        },
    },
    "_kernels/neighbour_encoding": {
        "continue": {"continue -> pass": "the only centre left is found once more"},
    },
    "_choice/similarity": {
        "if psi > _MAX_PSI_FOR_TABLES:": {
            f"psi > _MAX_PSI_FOR_TABLES -> (psi {other} _MAX_PSI_FOR_TABLES)": (
                "both products give the same whole numbers"
            )
            for other in (">=", "<=")
        },
        "_MAX_PSI_FOR_TABLES, _N_BLOCKS = 64, 4": {
            "64 -> (65)": "both products are equal",
            "4 -> (5)": "blocks of any size give the same whole numbers",
        },
    },
    "_cells/count_tables": {
        "_LARGEST_INTEGER = 2**63 - 1": {
            "1 -> (2)": "no product of a resolution and a squared mass is between the two",
        },
        "if self.resolution * int(self.masses.sum()) ** 2 > _LARGEST_INTEGER:": {
            "self.resolution * int(self.masses.sum()) ** 2 > _LARGEST_INTEGER -> "
            "(self.resolution * int(self.masses.sum()) ** 2 >= _LARGEST_INTEGER)": "2^63 - 1 is "
            "no product of a resolution and a squared mass",
        },
        "largest = int(counts.max(initial=0))": {"0 -> (1)": _EXACT_SUM},
        "if largest**2 * max(len(counts), 1) < 1 << 63:": {
            "1 << 63 -> (1 >> 63)": _EXACT_SUM,
            "2 -> (3)": _EXACT_SUM,
        },
    },
}
