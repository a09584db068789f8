"""Samples as data: splits, vocabulary, scrambling, repeatable sources, datasets, export, audit, statistics."""
