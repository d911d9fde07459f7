"""A default fit compiles few programs: compiling is most of the time of a first fit."""

import subprocess
import sys

LIMIT = 24

# In a process of its own, which has compiled nothing before.
COUNT = """
import jax, numpy as np
from vebnn import PSGHMC, Training, VeBNNRegressor
from vebnn.presets import stretched

names = []
def note(event, seconds, **more):
    if event == "/jax/core/compile/backend_compile_duration":
        names.append(more.get("fun_name", "a program"))
jax.monitoring.register_event_duration_secs_listener(note)

rng = np.random.default_rng(0)
X = rng.normal(size=(250, 10))
y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=250)
# The default fit, but shorter.
chains = stretched(PSGHMC.for_rows(250), 0.1)
model = VeBNNRegressor(inference=chains, mean_training=Training(50, patience=20), random_state=0)
model.fit(X, y)
print(*names, sep="\\n")
names.clear()
model.predict_distribution(X)
assert not names, f"predicting the training rows compiles {names}"
"""


def test_a_default_fit_compiles_few_programs() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", COUNT], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    names = done.stdout.split("\n")[:-1]
    assert 0 < len(names) <= LIMIT, "\n".join(names)
    # Step 1, Step 2 and Step 3; short and long chains share a program.
    assert names.count("jit(_on_every_device)") == 3
