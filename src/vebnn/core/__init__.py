"""Foundation of the package: types, argument checks, JAX set-up, random numbers, signals, workers.

Importing vebnn calls :func:`configure`. As soon as JAX is imported, it sets these options and no
others, each only if the user has not set it:

``jax_num_cpu_devices``
    One device per core, so that independent runs (folds, chains, members) use every core. Choose a
    number with ``VEBNN_CPU_DEVICES``. If JAX has already started, the option stays as it is.
``jax_compilation_cache_dir``
    Compiled programs are kept in the user's cache folder, so that the next process starts quickly.
    ``VEBNN_COMPILATION_CACHE=off`` disables it; a folder as the value moves it.
``jax_persistent_cache_min_compile_time_secs``
    0: that cache keeps every program, not only those that compile for a second. A fit has dozens of
    small ones, which together take as long to compile as the large ones.
"""

from vebnn.core.compilation import cache_compiled_programs
from vebnn.core.devices import use_one_device_per_core
from vebnn.core.with_jax import when_jax_is_imported


def configure() -> None:
    """Set the JAX options listed above, now or when JAX is imported."""
    when_jax_is_imported(_set_options)


def _set_options() -> None:
    use_one_device_per_core()
    cache_compiled_programs()
