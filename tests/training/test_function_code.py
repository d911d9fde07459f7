"""A changed function is another one, wherever it is; a moved one is the same."""

import functools
import sys
from types import ModuleType, SimpleNamespace

import jax
import jax.numpy as jnp
import pytest

from vebnn.training.checkpoint import fingerprint
from vebnn.training.function_code import function_code

SOURCE = """
import functools
WIDTH = 3
def helper(x):
    return x + 1
def outer(factor):
    return lambda x: factor * x
class Network:
    def __init__(self, activation):
        self.activation = activation
    def __call__(self, x, scale=2.0):
        return helper(self.activation(x)) * scale * WIDTH in {"a", "b"}
network = (Network(outer(4)), functools.partial(helper, x=1), 1.0)
"""


def network_of(source: str, monkeypatch: pytest.MonkeyPatch):
    module = ModuleType("my_networks")
    monkeypatch.setitem(sys.modules, "my_networks", module)
    exec(compile(source, "my_networks.py", "exec"), vars(module))
    return module.network


def digest(source: str, monkeypatch: pytest.MonkeyPatch) -> str:
    network = network_of(source, monkeypatch)
    return fingerprint(SimpleNamespace(network=network, variance_network=None), (), 0)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x + 1", "x + 2"),
        ("x + 1", "x - 1"),
        ("WIDTH = 3", "WIDTH = 4"),
        ("factor * x", "factor + x"),
        ("outer(4)", "outer(5)"),
        ("scale=2.0", "scale=3.0"),
        ('{"a", "b"}', '{"a", "c"}'),
        ("self.activation(x)", "x"),
    ],
)
def test_a_change_is_seen(before: str, after: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert SOURCE.count(before) == 1
    changed = digest(SOURCE.replace(before, after), monkeypatch)
    assert changed != digest(SOURCE, monkeypatch)


def test_place_and_comments_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    moved = "# a comment\n\n\n" + SOURCE.replace("x + 1", "x + 1  # more")
    assert digest(moved, monkeypatch) == digest(SOURCE, monkeypatch)


def test_compiled_functions_and_methods(monkeypatch: pytest.MonkeyPatch) -> None:
    assert function_code(jax.jit(lambda x: x + 1)) != function_code(jax.jit(lambda x: x + 2))
    network = network_of(SOURCE, monkeypatch)[0]
    assert function_code(network.__call__) == function_code(network)


def test_installed_functions_count_as_unchanged() -> None:
    installed = (jnp.tanh, jax.nn.relu, functools.reduce, len)
    assert function_code((*installed, digest)) == function_code(digest)


def test_functions_that_name_themselves_end() -> None:
    def again(x):
        return again(x)

    assert function_code(again)
