"""Random partitionings, the cells of rows, and count tables of sets of rows."""
