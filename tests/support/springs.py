"""A long table: springs with friction, pulled along load histories of unequal length."""

import numpy as np
import pandas


def springs(
    num_sequences: int = 14, seed: int = 0, *, steps: tuple[int, int] = (6, 10), gaps: bool = True
) -> pandas.DataFrame:
    """Return rows ``test, t, metal, load, force``; every tenth force is missing if there are gaps."""
    rng = np.random.default_rng(seed)
    rows = []
    for number in range(num_sequences):
        metal = ("steel", "brass")[number % 2]
        slip, force, before = (1.0 if metal == "steel" else 0.6), 0.0, 0.0
        for t in range(int(rng.integers(*steps, endpoint=True))):
            load = before + rng.uniform(-1, 1)
            force, before = float(np.clip(force + load - before, -slip, slip)), load
            rows.append((f"T{number:02}", t, metal, load, force + rng.normal(0, 0.05)))
    frame = pandas.DataFrame(rows, columns=["test", "t", "metal", "load", "force"]).round(3)
    if gaps:
        frame.loc[9::10, "force"] = np.nan
    return frame
