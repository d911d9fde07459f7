"""What is already computed: a folder of parts, kept until the data set is whole."""

import hashlib
import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from vebnn.serialization.files import read_arrays, write_arrays

_SUFFIX = ".part.safetensors"


@dataclass(frozen=True)
class Parts:
    """Parts of a data set, each a whole file.

    Args:
      folder: where they are kept.
      description: all that decides the numbers; parts of another description are refused.
    """

    folder: Path
    description: Mapping[str, Any]

    def read(self) -> dict[int, dict[str, np.ndarray]]:
        """Return the parts that are there, by number.

        Raises:
          ValueError: if they belong to something else.
        """
        found = {}
        for path in sorted(self.folder.glob(f"[0-9]*{_SUFFIX}")):
            arrays, metadata = read_arrays(path)
            if metadata.get("fingerprint") != self._fingerprint:
                raise ValueError(
                    f"The folder {self.folder} holds parts of a data set with other settings or "
                    f"versions. Delete it, or choose another folder."
                )
            found[int(path.name.removesuffix(_SUFFIX))] = arrays
        return found

    def write(self, number: int, arrays: Mapping[str, np.ndarray]) -> None:
        """Keep one part."""
        path = self.folder / f"{number:06d}{_SUFFIX}"
        write_arrays(path, arrays, {"fingerprint": self._fingerprint})

    def delete(self) -> None:
        """Forget all parts."""
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def _fingerprint(self) -> str:
        words = json.dumps(self.description, sort_keys=True)
        return hashlib.sha256(words.encode()).hexdigest()
