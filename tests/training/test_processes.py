"""Two processes of ``jax.distributed`` make one fit."""

import os
import socket
import subprocess
import sys

import numpy as np
import pytest

PROGRAM = """
import sys
import jax
import vebnn
if len(sys.argv) > 2:
    jax.distributed.initialize("127.0.0.1:{port}", 2, int(sys.argv[2]))
    assert jax.process_count() == 2
import numpy as np
rng = np.random.default_rng(0)
X = rng.uniform(-2, 2, (60, 2))
y = np.sin(X[:, 0]) + rng.normal(0, 0.2, 60)
chains = vebnn.PSGHMC(num_samples=4, burn_in=3, thinning=2, num_chains=3, batch_size=16)
model = vebnn.VeBNNRegressor(
    vebnn.MLP((8,)),
    inference=chains,
    variance_inference=chains,
    rounds=1,
    num_folds=3,
    mean_training=vebnn.Training(num_epochs=6, batch_size=16, patience=4),
    random_state=0,
)
p = model.fit(X, y).predict_distribution(X[:5])
np.savez(sys.argv[1], p.mean, p.aleatoric_variance, p.epistemic_variance)
"""


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@pytest.mark.slow
def test_two_processes_have_the_bits_of_one(tmp_path) -> None:
    program = PROGRAM.format(port=free_port())
    environment = os.environ | {"VEBNN_CPU_DEVICES": "2"}

    def start(name: str, *arguments: str) -> subprocess.Popen:
        command = [sys.executable, "-W", "ignore", "-c", program, str(tmp_path / name), *arguments]
        return subprocess.Popen(command, env=environment)

    started = [start("first.npz", "0"), start("second.npz", "1"), start("alone.npz")]
    assert [process.wait() for process in started] == [0, 0, 0]
    alone = np.load(tmp_path / "alone.npz")
    for name in ("first.npz", "second.npz"):
        both = np.load(tmp_path / name)
        for part in alone.files:
            np.testing.assert_array_equal(both[part], alone[part])
