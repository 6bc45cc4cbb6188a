"""One fit from rows to result, and predictions by it, for every estimator and engine."""
