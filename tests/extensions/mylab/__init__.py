"""A laboratory outside execlab: docs/extending.md shows how it is made."""
