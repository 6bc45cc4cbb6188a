"""Choosing psi and the number of clusters without labels."""
