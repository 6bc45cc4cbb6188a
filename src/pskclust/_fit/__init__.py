"""Steps of a fit, from rows to result, and predictions, for every estimator and engine."""
