"""Choice of a clustering without labels."""
