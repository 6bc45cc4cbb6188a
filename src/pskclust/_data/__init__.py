"""From input to checked rows: arrays, weights, metrics, parameters and streamed sources."""
