"""A call as soon as JAX is imported, so that importing vebnn need not import it."""

import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


def when_jax_is_imported(call: Callable[[], None]) -> None:
    """Call now if JAX is imported, otherwise at the end of its import."""
    if "jax" in sys.modules:
        call()
    else:
        sys.meta_path.insert(0, _Finder(call))


class _Finder(MetaPathFinder):
    """Finds JAX as the other finders do, and adds the call to its import."""

    def __init__(self, call: Callable[[], None]) -> None:
        self._call = call

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return where JAX is; None for all other modules."""
        if name != "jax":
            return None
        others = (finder for finder in sys.meta_path if finder is not self)
        spec = next(filter(None, (finder.find_spec(name, path, target) for finder in others)), None)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def import_and_call(module: ModuleType) -> None:
                execute(module)
                self._call()

            spec.loader.exec_module = import_and_call  # type: ignore[method-assign]
        return spec
