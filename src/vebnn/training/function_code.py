"""The code of a user's own functions, so that a changed function of the same name is another one."""

import functools
import sys
import sysconfig
from collections.abc import Iterator
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

_INSTALLED = tuple(sysconfig.get_paths()[name] for name in ("purelib", "platlib"))
_PLAIN = (str, bytes, int, float, complex, bool, type(None))


def function_code(value: Any) -> list[str]:
    """Return the code of all functions of the user's own in a value, in a fixed order.

    Also of the functions and plain values that these use: from their defaults, their closures and the
    modules they are in. Functions of installed packages count as unchanged, and so do those of other
    modules that are called as ``module.function``.
    """
    return list(_walk(value, {}))


def _walk(value: Any, seen: dict[int, Any]) -> Iterator[str]:
    if id(value) in seen or isinstance(value, (*_PLAIN, ModuleType)):
        return
    seen[id(value)] = value  # alive, so that nothing else gets its id
    if isinstance(value, functools.partial):
        yield from _walk((value.func, value.args, value.keywords), seen)
    elif isinstance(value, MethodType):
        yield from _walk((value.__self__, value.__func__), seen)
    elif isinstance(value, tuple | list):
        for item in value:
            yield from _walk(item, seen)
    elif isinstance(value, dict):
        yield from _walk(list(value.values()), seen)
    elif isinstance(value, FunctionType):
        if _is_own(value):
            yield from _function(value, seen)
    elif isinstance(inside := getattr(value, "__wrapped__", None), FunctionType):  # compiled
        yield from _walk(inside, seen)
    elif isinstance(value, type):
        for kind in filter(_is_own, value.__mro__):
            yield from _walk(dict(vars(kind)), seen)
    else:
        yield from _walk(type(value), seen)
        yield from _walk(getattr(value, "__dict__", None), seen)


def _function(function: FunctionType, seen: dict[int, Any]) -> Iterator[str]:
    yield from _code(function.__code__)
    names = [name for code in _nested(function.__code__) for name in code.co_names]
    around = [function.__globals__[name] for name in names if name in function.__globals__]
    around = [used for used in around if isinstance(used, (*_PLAIN, FunctionType, type, tuple))]
    cells = [cell.cell_contents for cell in function.__closure__ or () if _is_filled(cell)]
    for used in (*around, *cells, *(function.__defaults__ or ()), function.__kwdefaults__):
        if isinstance(used, _PLAIN):
            yield repr(used)
        yield from _walk(used, seen)


def _code(code: CodeType) -> Iterator[str]:
    """Yield what a function does, without its place in its file."""
    yield repr((code.co_code, code.co_names, code.co_varnames))
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code(constant)
        else:  # the order of a set differs between processes
            yield repr(sorted(map(repr, constant)) if isinstance(constant, frozenset) else constant)


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _nested(constant)


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False


def _is_own(named: Any) -> bool:
    """Return whether a function or class is of no installed package and not of Python's own."""
    module = getattr(named, "__module__", None) or ""
    file = getattr(sys.modules.get(module), "__file__", None)
    package = module.split(".")[0]
    provided = package == "vebnn" or package in sys.stdlib_module_names
    return not provided and not str(file).startswith(_INSTALLED)
