"""How well a model executes: decoding, scores with intervals, kinds of error."""
