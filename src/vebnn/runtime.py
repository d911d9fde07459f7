"""The only two JAX options vebnn sets, both on import and both only if you have not set them.

``jax_num_cpu_devices``
    One device per core, so that independent runs (folds, chains, members) use every core. Set
    ``VEBNN_CPU_DEVICES=1`` (or any number) to choose; if JAX has already started, it stays as it is.
``jax_compilation_cache_dir``
    Compiled programs are kept in the user's cache folder, so that a second process starts quickly.
    Set ``VEBNN_COMPILATION_CACHE=off`` to switch it off, or to a folder to move it.
"""

import os
from pathlib import Path

import jax


def configure() -> None:
    """Apply the two options above; a choice the user has already made is left alone."""
    _one_device_per_core()
    _keep_compiled_programs()


def _one_device_per_core() -> None:
    user_chose = (
        jax.config.values["jax_num_cpu_devices"] != -1
        or "xla_force_host_platform_device_count" in os.environ.get("XLA_FLAGS", "")
    )
    if user_chose:
        return
    cores = os.environ.get("VEBNN_CPU_DEVICES") or len(os.sched_getaffinity(0))
    try:
        jax.config.update("jax_num_cpu_devices", int(cores))
    except RuntimeError:
        # JAX has already started its devices: the user's set-up wins.
        return


def _keep_compiled_programs() -> None:
    choice = os.environ.get("VEBNN_COMPILATION_CACHE", "")
    if choice == "off" or jax.config.values["jax_compilation_cache_dir"]:
        return
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    jax.config.update("jax_compilation_cache_dir", choice or str(Path(home) / "vebnn" / "jax"))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.2)
