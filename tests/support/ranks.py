"""Several runs, one after the other, by the processes that torchrun started; each is then resumed from the middle.

    torchrun --nproc-per-node 2 tests/support/ranks.py FOLDER

FOLDER/configs.json has a Config per name. FOLDER/NAME is the run, FOLDER/NAME-again the one that was resumed.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import torch.distributed as dist

from execlab.training import checkpoints, loop
from execlab.training.config import config_from_dict


def go_back(run: Path, copy: Path) -> None:
    """A copy of a finished run as it was at its checkpoint before the last."""
    shutil.copytree(run, copy)
    for path in (copy / "report.json", copy / "model.safetensors", checkpoints.listed(copy / "checkpoints")[0]):
        path.unlink()


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    for name, config in json.loads((folder / "configs.json").read_text()).items():
        run, again = folder / name, folder / f"{name}-again"
        loop.train(config_from_dict(config), run)
        if dist.get_rank() == 0:
            go_back(run, again)
        dist.barrier()
        loop.resume(again)
