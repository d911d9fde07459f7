"""Importing vebnn is quick, and importing JAX after it sets only the documented options."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

DOCUMENTED = {
    "jax_num_cpu_devices",
    "jax_compilation_cache_dir",
    "jax_persistent_cache_min_compile_time_secs",
}

COMPARE = """
import json, time, jax
{before}
before = dict(jax.config.values)
started = time.perf_counter()
import vebnn
seconds = time.perf_counter() - started
after = dict(jax.config.values)
changed = [name for name in after if after[name] is not before[name] and after[name] != before[name]]
print(json.dumps(dict(
    changed=changed,
    devices=after["jax_num_cpu_devices"],
    started=jax.local_device_count(),
    cache=after["jax_compilation_cache_dir"],
    seconds=seconds,
)))
"""


def run(code: str, **environment: str) -> str:
    """Run code in a fresh process that inherits no choice of ours; return what it prints."""
    inherited = {
        name: value
        for name, value in os.environ.items()
        if name != "XLA_FLAGS" and not name.startswith(("VEBNN_", "JAX_"))
    }
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=inherited | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def import_vebnn(before: str = "", **environment: str) -> dict:
    """Import vebnn in a fresh process and return what that changed."""
    return json.loads(run(COMPARE.format(before=before), **environment).splitlines()[-1])


def imported_by(code: str) -> set[str]:
    """Return the modules that are imported after some code, in a fresh process."""
    return set(run(f"{code}\nimport sys; print(*sys.modules)").split())


def test_import_is_quick() -> None:
    # Processor time, best of three: the machine may be busy.
    code = "import time; t = time.process_time(); import vebnn; print(time.process_time() - t)"
    assert min(float(run(code)) for _ in range(3)) < 0.2


def test_what_importing_does_not_import() -> None:
    assert not imported_by("import vebnn") & {"jax", "numpy", "scipy", "pandas", "sklearn"}


def test_what_estimators_do_not_import() -> None:
    # scikit-learn's own base class imports pandas and scipy.stats.
    seen = imported_by("from vebnn import VeBNNRegressor")
    late = {
        "arviz_stats",
        "blackjax",
        "matplotlib",
        "plotly",
        "pooch",
        "sklearn.compose",
        "sklearn.pipeline",
    }
    assert "jax" in seen
    assert not seen & (late | {"sklearn.model_selection", "sklearn.preprocessing", "typer", "xarray"})


@pytest.mark.parametrize("first", ["jax", "vebnn.core.devices", "vebnn.core.types", "vebnn.inference"])
def test_options_are_set_when_jax_is_imported_later(tmp_path: Path, first: str) -> None:
    code = f"import vebnn, sys; assert 'jax' not in sys.modules; import {first}, jax"
    code += "\nprint(jax.config.values)"
    seen = run(code, VEBNN_COMPILATION_CACHE=str(tmp_path), VEBNN_CPU_DEVICES="3")
    assert f"'jax_compilation_cache_dir': '{tmp_path}'" in seen
    assert "'jax_num_cpu_devices': 3" in seen


def test_only_documented_options_change() -> None:
    seen = import_vebnn()
    assert set(seen["changed"]) <= DOCUMENTED
    assert seen["devices"] == len(os.sched_getaffinity(0)) == seen["started"]
    assert seen["cache"].endswith("vebnn/jax")


def test_number_of_devices_from_the_environment() -> None:
    assert import_vebnn(VEBNN_CPU_DEVICES="3")["started"] == 3


def test_number_of_devices_set_before() -> None:
    seen = import_vebnn('jax.config.update("jax_num_cpu_devices", 3)', VEBNN_CPU_DEVICES="2")
    assert seen["started"] == 3
    assert "jax_num_cpu_devices" not in seen["changed"]


def test_number_of_devices_when_jax_has_started() -> None:
    seen = import_vebnn("jax.devices()")
    assert seen["started"] == 1
    assert "jax_num_cpu_devices" not in seen["changed"]


def test_number_of_devices_from_xla_flags() -> None:
    assert import_vebnn(XLA_FLAGS="--xla_force_host_platform_device_count=3")["started"] == 3


def test_systems_that_do_not_tell_which_cores_are_free() -> None:
    # macOS and Windows have no sched_getaffinity.
    assert import_vebnn("import os; del os.sched_getaffinity")["started"] == os.cpu_count()


def test_smallest_program_worth_keeping_set_before() -> None:
    seen = import_vebnn(JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS="5")
    assert "jax_persistent_cache_min_compile_time_secs" not in seen["changed"]


def test_cache_switched_off() -> None:
    seen = import_vebnn(VEBNN_COMPILATION_CACHE="off")
    assert seen["cache"] is None
    assert set(seen["changed"]) <= {"jax_num_cpu_devices"}


@pytest.mark.parametrize(
    "environment", [{"VEBNN_COMPILATION_CACHE": "/mine"}, {"JAX_COMPILATION_CACHE_DIR": "/mine"}]
)
def test_cache_moved(environment: dict[str, str]) -> None:
    assert import_vebnn(**environment)["cache"] == "/mine"


def test_cache_follows_the_desktop_convention() -> None:
    assert import_vebnn(XDG_CACHE_HOME="/caches")["cache"] == "/caches/vebnn/jax"


def test_even_small_programs_are_kept(tmp_path: Path) -> None:
    # A fit has dozens of them, and a second process would compile all of them again.
    code = "import vebnn, jax; jax.jit(lambda x: x + 1)(1.0).block_until_ready()"
    for _ in range(2):
        run(code, VEBNN_COMPILATION_CACHE=str(tmp_path))
    assert len(list(tmp_path.iterdir())) == 1
