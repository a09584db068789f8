"""Unusual, but allowed."""
