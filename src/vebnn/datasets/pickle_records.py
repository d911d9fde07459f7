"""Read a pickle as inert records: names are compared with a list, and calls are noted, not made.

A pickle is a program for a machine with a stack and a memo. This machine knows only the instructions
that pickled tables of arrays need. It imports nothing, calls nothing and hashes nothing but short
strings, so that time and memory stay in proportion to the size of the file.
"""

import pickletools
from collections.abc import Callable, Collection
from typing import Any


class Refused(Exception):
    """The pickle names something that is not allowed."""


class Name:
    """A name in a pickle, not imported."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


class Record:
    """One call in a pickle, not made: the name, the arguments and the state to set."""

    __slots__ = ("arguments", "name", "state")

    def __init__(self, called: Any, arguments: Any) -> None:
        if not isinstance(called, Name) or not isinstance(arguments, tuple):
            raise TypeError("a call of something that is no name")
        self.name, self.arguments = called.name, arguments
        self.state: Any = None


class _Machine:
    """The stack and the memo; a method per instruction."""

    def __init__(self, allowed: Collection[str]) -> None:
        self.allowed = allowed
        self.stack: list[Any] = []
        self.marked: list[list[Any]] = []  # the stacks below each mark
        self.memo: dict[int, Any] = {}

    def mark(self, _: Any) -> None:
        self.marked.append(self.stack)
        self.stack = []

    def pop_to_mark(self) -> list[Any]:
        items, self.stack = self.stack, self.marked.pop()
        return items

    def name(self, written: str) -> None:
        if written not in self.allowed:
            raise Refused(written)
        self.stack.append(Name(written))

    def name_from_stack(self, _: Any) -> None:
        name, module = self.stack.pop(), self.stack.pop()
        if not (isinstance(name, str) and isinstance(module, str)):
            raise TypeError("a name that is no text")
        self.name(f"{module}.{name}")

    def persistent(self, _: Any) -> None:
        raise Refused("something outside of the file")

    def put(self, place: int) -> None:
        self.memo[place] = self.stack[-1]

    def get(self, place: int) -> None:
        self.stack.append(self.memo[place])

    def call(self, _: Any) -> None:
        arguments = self.stack.pop()
        self.stack.append(Record(self.stack.pop(), arguments))

    def build(self, _: Any) -> None:
        state = self.stack.pop()
        if not isinstance(self.stack[-1], Record):
            raise TypeError("a state of something that is no record")
        self.stack[-1].state = state

    def tuple_of(self, number: int) -> None:
        items = self.stack[-number:]
        if len(items) < number:
            raise IndexError("the stack is empty")
        self.stack[-number:] = [tuple(items)]

    def extend(self, items: list[Any]) -> None:
        if not isinstance(self.stack[-1], list):
            raise TypeError("items of something that is no list")
        self.stack[-1].extend(items)

    def set_items(self, items: list[Any]) -> None:
        # Other keys could take for ever to hash: a small pickle holds tuples of tuples of tuples.
        if not isinstance(self.stack[-1], dict) or not all(isinstance(key, str) for key in items[::2]):
            raise TypeError("items of something that is no dictionary with text as keys")
        self.stack[-1].update(zip(items[::2], items[1::2], strict=True))


Step = Callable[[_Machine, Any], Any]


def _push(machine: _Machine, value: Any) -> None:
    machine.stack.append(value)


_VALUES = (
    "BININT BININT1 BININT2 LONG1 BINFLOAT BINUNICODE SHORT_BINUNICODE BINUNICODE8 BINBYTES "
    "SHORT_BINBYTES BINBYTES8 BYTEARRAY8"
)
_STEPS: dict[str, Step] = {
    **dict.fromkeys(_VALUES.split(), _push),
    **dict.fromkeys(("PUT", "BINPUT", "LONG_BINPUT"), _Machine.put),
    **dict.fromkeys(("GET", "BINGET", "LONG_BINGET"), _Machine.get),
    **dict.fromkeys(("PROTO", "FRAME"), lambda machine, _: None),
    **dict.fromkeys(("REDUCE", "NEWOBJ"), _Machine.call),
    **dict.fromkeys(("PERSID", "BINPERSID"), _Machine.persistent),
    "MEMOIZE": lambda machine, _: machine.put(len(machine.memo)),
    "NONE": lambda machine, _: _push(machine, None),
    "NEWTRUE": lambda machine, _: _push(machine, True),
    "NEWFALSE": lambda machine, _: _push(machine, False),
    "MARK": _Machine.mark,
    "POP": lambda machine, _: machine.stack.pop(),
    "POP_MARK": lambda machine, _: machine.pop_to_mark(),
    "GLOBAL": lambda machine, written: machine.name(written.replace(" ", ".", 1)),
    "STACK_GLOBAL": _Machine.name_from_stack,
    "BUILD": _Machine.build,
    "EMPTY_TUPLE": lambda machine, _: _push(machine, ()),
    "TUPLE1": lambda machine, _: machine.tuple_of(1),
    "TUPLE2": lambda machine, _: machine.tuple_of(2),
    "TUPLE3": lambda machine, _: machine.tuple_of(3),
    "TUPLE": lambda machine, _: _push(machine, tuple(machine.pop_to_mark())),
    "EMPTY_LIST": lambda machine, _: _push(machine, []),
    "APPEND": lambda machine, _: machine.extend([machine.stack.pop()]),
    "APPENDS": lambda machine, _: machine.extend(machine.pop_to_mark()),
    "EMPTY_DICT": lambda machine, _: _push(machine, {}),
    "SETITEM": lambda machine, _: machine.set_items([machine.stack.pop() for _ in "kv"][::-1]),
    "SETITEMS": lambda machine, _: machine.set_items(machine.pop_to_mark()),
}


def read_records(content: bytes, allowed: Collection[str]) -> Any:
    """Return what a pickle describes: plain values, lists, tuples, dictionaries and records.

    Args:
      content: the pickle.
      allowed: the names that it may hold.

    Raises:
      Refused: if it holds another name.
      Exception: of any kind, if it is damaged or needs other instructions.
    """
    machine = _Machine(allowed)
    for opcode, argument, _ in pickletools.genops(content):
        if opcode.name == "STOP":
            (result,) = machine.stack
            return result
        _STEPS[opcode.name](machine, argument)
    raise ValueError("the pickle has no end")
