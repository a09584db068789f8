"""execlab's taskset under a name that verifiers can import: it takes top-level modules only."""

from execlab.integrations.verifiers import ExeclabTaskset

__all__ = ["ExeclabTaskset"]
