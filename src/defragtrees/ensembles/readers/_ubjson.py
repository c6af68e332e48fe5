"""A parser of UBJSON, the binary form of JSON that XGBoost saves.

Nothing is executed, and every length is checked against the number of bytes left.
"""

import numpy as np

MAX_DEPTH = 64  # XGBoost nests less than ten levels deep
NUMBERS = {
    b"i": np.dtype(">i1"),
    b"U": np.dtype(">u1"),
    b"I": np.dtype(">i2"),
    b"l": np.dtype(">i4"),
    b"L": np.dtype(">i8"),
    b"d": np.dtype(">f4"),
    b"D": np.dtype(">f8"),
}
CONSTANTS = {b"Z": None, b"T": True, b"F": False}


def parse_ubjson(data):
    r"""Parse UBJSON; arrays of one number type become ndarrays.

    Raises ValueError if the bytes end early, continue after the value, or are not
    UBJSON.

    Examples
    --------
    >>> parse_ubjson(b"{i\x01a[i\x05T]}")
    {'a': [5, True]}
    """
    cursor = _Cursor(data)
    value = cursor.value(cursor.marker(), 0)
    if cursor.at != len(data):
        raise ValueError(f"{len(data) - cursor.at} bytes follow after its end")
    return value


class _Cursor:
    """A position in the bytes, with methods to read on."""

    def __init__(self, data):
        self.data = data
        self.at = 0

    def take(self, n_bytes):
        if n_bytes < 0 or n_bytes > len(self.data) - self.at:
            raise ValueError(f"it ends early, after {len(self.data)} bytes")
        self.at += n_bytes
        return self.data[self.at - n_bytes : self.at]

    def marker(self):
        marker = self.take(1)
        while marker == b"N":  # no-op
            marker = self.take(1)
        return marker

    def peek(self):
        return self.data[self.at : self.at + 1]

    def value(self, marker, depth):
        if marker in NUMBERS:
            dtype = NUMBERS[marker]
            return np.frombuffer(self.take(dtype.itemsize), dtype).item()
        if marker in CONSTANTS:
            return CONSTANTS[marker]
        if marker == b"C":
            return self.take(1).decode("ascii")
        if marker in (b"S", b"H"):  # H spells a number too long for the other types
            return self.text()
        if depth > MAX_DEPTH:
            raise ValueError(f"it nests more than {MAX_DEPTH} levels deep")
        if marker == b"[":
            return self.array(depth)
        if marker == b"{":
            return self.object(depth)
        raise ValueError(f"byte {self.at - 1} has the unknown type {marker!r}")

    def length(self):
        length = self.value(self.marker(), MAX_DEPTH)
        if type(length) is not int or length < 0:
            raise ValueError(f"byte {self.at} should be a length")
        return length

    def text(self):
        return self.take(self.length()).decode("utf-8")

    def header(self):
        """The type and the number of the items; None if not given."""
        kind = n_items = None
        if self.peek() == b"$":
            self.take(1)
            kind = self.take(1)
        if self.peek() == b"#":
            self.take(1)
            n_items = self.length()
        if kind is not None and (n_items is None or kind in CONSTANTS):
            raise ValueError(f"byte {self.at} starts items of one type, but no number")
        return kind, n_items

    def array(self, depth):
        kind, n_items = self.header()
        if kind in NUMBERS:
            dtype = NUMBERS[kind]
            buffer = self.take(n_items * dtype.itemsize)
            return np.frombuffer(buffer, dtype).astype(dtype.newbyteorder("="))
        items = []
        while n_items is None or len(items) < n_items:
            marker = kind if kind is not None else self.marker()
            if n_items is None and marker == b"]":
                break
            items.append(self.value(marker, depth + 1))
        return items

    def object(self, depth):
        kind, n_items = self.header()
        members = {}
        n_read = 0
        while n_items is None or n_read < n_items:
            if n_items is None and self.peek() == b"}":
                self.take(1)
                break
            name = self.text()
            marker = kind if kind is not None else self.marker()
            members[name] = self.value(marker, depth + 1)
            n_read += 1
        return members
