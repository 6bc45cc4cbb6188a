"""Input to checked rows: arrays, weights, metrics, parameters, streamed sources."""
