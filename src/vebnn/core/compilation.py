"""Room for compiled programs: a process may fit models of ever new shapes without end.

XLA keeps the code of every program in memory maps of its own, hundreds of them per fit, and Linux
gives a process 65,530: fewer than a hundred fits of different sizes (active learning, say, where
every round adds a row), and then compiling ends the process without a word. So programs are
forgotten in time; those still needed come back from the compilation cache.
"""

import gc
from pathlib import Path

import jax

_MAPS = Path("/proc/self/maps")
_LIMIT = Path("/proc/sys/vm/max_map_count")
_SHARE = 0.5  # of the limit; one fit takes a few per cent of it


def evict_compiled_programs() -> bool:
    """Forget all compiled programs if they fill half of what Linux allows; return whether they did."""
    if not (_MAPS.exists() and _LIMIT.exists()):
        return False
    crowded = _MAPS.read_bytes().count(b"\n") > _SHARE * int(_LIMIT.read_text())
    if crowded:
        jax.clear_caches()
        gc.collect()
    return crowded
