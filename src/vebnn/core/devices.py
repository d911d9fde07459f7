"""The only JAX options vebnn sets, all on import and each only if you have not set it.

``jax_num_cpu_devices``
    One device per core, so that independent runs (folds, chains, members) use every core. Set
    ``VEBNN_CPU_DEVICES=1`` (or any number) to choose; if JAX has already started, it stays as it is.
``jax_compilation_cache_dir``
    Compiled programs are kept in the user's cache folder, so that a second process starts quickly.
    Set ``VEBNN_COMPILATION_CACHE=off`` to switch it off, or to a folder to move it.
``jax_persistent_cache_min_compile_time_secs``
    With that cache, every program is worth keeping, however quickly it is compiled; JAX says those of
    1 second. A fit has dozens of small ones, which together take as long as the large ones.
"""

import os
from pathlib import Path

import jax

_JAX_MIN_COMPILE_SECONDS = 1.0  # JAX's own default: anything else is the user's choice


def configure() -> None:
    """Apply the options above; a choice the user has already made is left alone."""
    _one_device_per_core()
    _keep_compiled_programs()


def _one_device_per_core() -> None:
    forced = "xla_force_host_platform_device_count" in os.environ.get("XLA_FLAGS", "")
    if forced or jax.config.values["jax_num_cpu_devices"] != -1:
        return
    chosen = os.environ.get("VEBNN_CPU_DEVICES", "")
    if chosen and not (chosen.isdecimal() and int(chosen) > 0):
        raise ValueError(f"The variable VEBNN_CPU_DEVICES must be a number above 0. Got {chosen!r}.")
    try:
        jax.config.update("jax_num_cpu_devices", int(chosen or available_cores()))
    except RuntimeError:
        # JAX has already started its devices: the user's set-up wins.
        return


def available_cores() -> int:
    """Return how many cores this process may use."""
    # Only Linux knows which of the cores this process may use.
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _keep_compiled_programs() -> None:
    choice = os.environ.get("VEBNN_COMPILATION_CACHE", "")
    if choice == "off" or jax.config.values["jax_compilation_cache_dir"]:
        return
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    jax.config.update("jax_compilation_cache_dir", choice or str(Path(home) / "vebnn" / "jax"))
    shortest = "jax_persistent_cache_min_compile_time_secs"
    if jax.config.values[shortest] == _JAX_MIN_COMPILE_SECONDS:
        jax.config.update(shortest, 0.0)
