"""From a grid to finished runs: engines, the worker process, costs, reproduction and rechecks."""
