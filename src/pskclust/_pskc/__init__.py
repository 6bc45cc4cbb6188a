"""The steps of psKC on any engine: growth, assignment, refinement, result."""
