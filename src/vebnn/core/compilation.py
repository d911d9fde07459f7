"""Compiled programs: a persistent cache on disk, and eviction from memory.

XLA keeps every compiled program in memory maps of its own, hundreds per fit, and Linux allows a process
65,530 of them. After some hundred fits of different sizes (in active learning, every round adds rows)
compilation would crash the process. Programs are therefore evicted in time; those still in use come
back from the cache on disk.
"""

import gc
import os
from pathlib import Path

_JAX_MIN_COMPILE_SECONDS = 1.0  # JAX's default: any other value is the user's choice
_MAPS = Path("/proc/self/maps")
_LIMIT = Path("/proc/sys/vm/max_map_count")
_SHARE = 0.5  # of the limit; one fit takes a few per cent of it


def cache_compiled_programs() -> None:
    """Set the options of JAX's persistent compilation cache, unless the user has set a folder."""
    import jax  # not with this module: importing vebnn need not import it

    choice = os.environ.get("VEBNN_COMPILATION_CACHE", "")
    if choice == "off" or jax.config.values["jax_compilation_cache_dir"]:
        return
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    jax.config.update("jax_compilation_cache_dir", choice or str(Path(home) / "vebnn" / "jax"))
    shortest = "jax_persistent_cache_min_compile_time_secs"
    if jax.config.values[shortest] == _JAX_MIN_COMPILE_SECONDS:
        jax.config.update(shortest, 0.0)


def evict_compiled_programs() -> bool:
    """Evict all compiled programs if they fill half of the memory maps; return whether they did."""
    if not (_MAPS.exists() and _LIMIT.exists()):
        return False
    crowded = _MAPS.read_bytes().count(b"\n") > _SHARE * int(_LIMIT.read_text())
    if crowded:
        import jax

        jax.clear_caches()
        gc.collect()
    return crowded
