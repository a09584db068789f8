"""Config, the one training loop, run folders, checkpoints."""
