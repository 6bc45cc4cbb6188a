"""Engines hold the rows of a fit and do what growth and refinement ask; no algorithm is here."""
