"""A made-up table with text, gaps, an identifier, a constant and two targets.

``python examples/alloys.py`` writes ``alloys.csv``, and ``new-alloys.csv`` without targets. The latter
has an alloy and a temperature that are not in the former.
"""

from pathlib import Path

import numpy as np
import pandas

TARGETS = ("strength_MPa", "elongation_percent")


def alloys(num_rows: int = 80, seed: int = 0) -> pandas.DataFrame:
    """Return tensile tests whose strength decreases, and scatters more, with temperature."""
    rng = np.random.default_rng(seed)
    alloy = rng.choice(["A356", "6061", "7075"], num_rows, p=[0.5, 0.3, 0.2])
    temperature = rng.uniform(20, 400, num_rows)
    at_room_temperature = pandas.Series(alloy).map({"A356": 200, "6061": 280, "7075": 480}).to_numpy()
    noise = rng.normal(size=num_rows) * (4 + temperature / 40)
    ageing = rng.integers(1, 40, num_rows).astype(float)
    ageing[rng.choice(num_rows, num_rows // 10, replace=False)] = np.nan
    return pandas.DataFrame(
        {
            "sample": [f"S-{number:04d}" for number in range(num_rows)],
            "alloy": alloy,
            "temperature": temperature.round(1),
            "ageing": ageing,
            "annealed": rng.random(num_rows) < 0.4,
            "machine": "MTS 810",
            TARGETS[0]: (at_room_temperature - 0.4 * (temperature - 20) + noise).round(1),
            TARGETS[1]: (5 + temperature / 30 + rng.normal(size=num_rows)).round(2),
        }
    )


def main() -> None:
    """Write both files to the folder of this script."""
    folder = Path(__file__).parent
    alloys(240).to_csv(folder / "alloys.csv", index=False)
    new = alloys(12, seed=1).drop(columns=[*TARGETS, "machine"])
    new.loc[0, "alloy"], new.loc[1, "temperature"] = "2024", 650.0
    new.to_csv(folder / "new-alloys.csv", index=False)


if __name__ == "__main__":
    main()
