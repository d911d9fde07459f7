"""Checkpoints: every kind of leaf comes back, and nothing but the very same work is resumed."""

import re
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from vebnn.serialization.arrays import pack_arrays, write_part
from vebnn.serialization.trees import arrays_of
from vebnn.training.checkpoint import Checkpoint, fingerprint

ZEROS = np.zeros(3)


def a_state(scale: float) -> dict:
    return {
        "weights": (scale * jnp.arange(6.0).reshape(2, 3), jnp.zeros((0, 2))),
        "key": jax.random.key(int(scale)),
        "epoch": jnp.asarray(int(scale)),
        "stopped": jnp.asarray([scale > 1]),
        "nothing": None,
    }


@pytest.fixture
def path(tmp_path):
    checkpoint = Checkpoint(tmp_path / "c", "same")
    checkpoint.report("Round 1 · Step 3", a_state(7.0), 5, 5, "")
    (path,) = (tmp_path / "c").iterdir()
    return path


def restore(path, fingerprint: str = "same") -> dict:
    return Checkpoint(path.parent, fingerprint).restore("Round 1 · Step 3", a_state(1.0))


def test_every_leaf_comes_back(path) -> None:
    jax.tree.map(np.testing.assert_array_equal, data(restore(path)), data(a_state(7.0)))
    same = jax.tree.map(
        lambda a, b: (a.shape, a.dtype) == (b.shape, b.dtype), restore(path), a_state(7.0)
    )
    assert all(jax.tree.leaves(same))


def data(state: dict) -> dict:
    return state | {"key": jax.random.key_data(state["key"])}


def test_a_flipped_bit_is_refused(path) -> None:
    content = bytearray(path.read_bytes())
    where = content.index(np.float32(35.0).tobytes())
    content[where] ^= 1
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"`checkpoint` .* is damaged. Delete the file to compute"):
        restore(path)


def test_a_deleted_stage_is_computed_again(path) -> None:
    path.unlink()
    jax.tree.map(np.testing.assert_array_equal, data(restore(path)), data(a_state(1.0)))


def test_other_work_is_refused(path) -> None:
    with pytest.raises(
        ValueError, match=r"`checkpoint` .* other data, settings, random_state or version"
    ):
        restore(path, "other")


def test_checkpoints_of_the_version_before_are_refused(path) -> None:
    leaves = enumerate(jax.tree.leaves(data(a_state(7.0))))
    old = pack_arrays({str(n): np.asarray(leaf) for n, leaf in leaves}, {"fingerprint": "same"})
    path.write_bytes(old)
    way_out = re.escape(f"Delete the folder {path.parent}")
    with pytest.raises(ValueError, match=rf"or version of vebnn. {way_out}"):
        restore(path)


@pytest.mark.parametrize("change", ["lacking", "extra"])
def test_a_checkpoint_with_other_arrays_is_refused(path, change) -> None:
    state = a_state(7.0)
    if change == "lacking":
        del state["epoch"]
    else:
        state["more"] = jnp.zeros(1)
    write_part(path, arrays_of("state", state), "same")
    with pytest.raises(
        ValueError, match=r"lacks arrays of this stage or has others. Delete the folder"
    ):
        restore(path)


def test_fingerprint_sees_settings_data_networks_and_seed() -> None:
    def of(seed=0, data=ZEROS, function=jnp.tanh, weights=ZEROS, **settings) -> str:
        network = {"function": function, "weights": weights}
        parts = SimpleNamespace(network=network, variance_network=None, **settings)
        return fingerprint(parts, (data,), seed)

    others = [
        of(seed=1),
        of(data=ZEROS + 1),
        of(data=ZEROS.astype(np.float32)),
        of(data=ZEROS[:, None]),
        of(weights=ZEROS + 1e-12),
        of(rounds=2),
    ]
    assert len({of(), *others}) == 7
    # The address of a function differs between processes.
    assert of(function=lambda x: x) == of(function=lambda x: x)
