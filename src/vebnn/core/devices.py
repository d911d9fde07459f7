"""Cores of this machine as JAX devices."""

import os
from contextlib import suppress


def available_cores() -> int:
    """Return how many cores this process may use; outside Linux, how many the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def use_one_device_per_core() -> None:
    """Set ``jax_num_cpu_devices``, unless the user has chosen or JAX has already started."""
    import jax  # not with this module: importing vebnn need not import it

    forced = "xla_force_host_platform_device_count" in os.environ.get("XLA_FLAGS", "")
    if forced or jax.config.values["jax_num_cpu_devices"] != -1:
        return
    chosen = os.environ.get("VEBNN_CPU_DEVICES", "")
    if chosen and not (chosen.isdecimal() and int(chosen) > 0):
        raise ValueError(f"The variable VEBNN_CPU_DEVICES must be a number above 0. Got {chosen!r}.")
    # JAX refuses the update if it has already started its devices.
    with suppress(RuntimeError):
        jax.config.update("jax_num_cpu_devices", int(chosen or available_cores()))
