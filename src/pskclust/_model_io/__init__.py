"""Writing, reading and checking of model files."""
