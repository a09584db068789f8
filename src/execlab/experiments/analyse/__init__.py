"""From finished runs to verdicts: rows of results, means over seeds, and the paper's claims."""
