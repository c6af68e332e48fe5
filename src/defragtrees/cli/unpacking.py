"""How much a data file may unpack to, checked before or while it is unpacked.

A gigabyte of equal bytes is a few kilobytes when compressed. What a plain file takes is
proportional to its size; what a packed one takes is limited here.
"""

import gzip
import struct

FREE_BYTES = 2**24
RATIO = 256  # ordinary tables compress to a tenth, one-hot columns to a hundredth
ROW_BYTES, CELL_BYTES = 16, 8  # at least, however few the file has for them
MOST_COLUMNS = 1_000_000
MOST_LINES = 1_000_000  # of one row
BLANK_LINES = 1_000_000  # more than there are rows
CELLS_AT_ONCE = 2**24  # of a batch, with those of columns that nobody asks for


def check_size(name, n_bytes, n_packed, advice):
    """Raise if so many bytes are too many for so many packed ones.

    Examples
    --------
    >>> check_size("a.gz", 2**25, 10_000, "Unpack it first")
    Traceback (most recent call last):
    ...
    ValueError: 'a.gz' unpacks to more than 16 MiB and 256 times its size, the limit. \
Unpack it first, if it is in order.
    """
    if n_bytes > FREE_BYTES + RATIO * n_packed:
        raise ValueError(
            f"{name!r} unpacks to more than 16 MiB and {RATIO} times its size, the "
            f"limit. {advice}, if it is in order."
        )


class Gunzip(gzip.GzipFile):
    """A gzip file to read, which stops where it unpacks to too much."""

    def __init__(self, name, file):
        super().__init__(fileobj=file)
        self.path_name, self.packed, self.n_unpacked = name, file, 0

    def read1(self, size=-1):
        """Some bytes, as TextIOWrapper reads them."""
        data = super().read1(size)
        self.n_unpacked += len(data)
        self.check(self.n_unpacked)
        return data

    def check(self, n_bytes):
        """Raise if so many bytes are too many for what is read of the file."""
        check_size(self.path_name, n_bytes, self.packed.tell(), "Unpack it first")


def feather_size(path):
    """The bytes of all buffers of a Feather file, unpacked, as the file states them.

    pyarrow shows them only after unpacking, so the headers are read here: the format
    is Arrow's "IPC file", its headers are FlatBuffers.
    """
    with open(path, "rb") as file:
        file.seek(-10, 2)
        (length,) = struct.unpack("<i", file.read(4))
        file.seek(-10 - length, 2)
        footer = _Table.root(file.read(length))
        total = 0
        for field in (2, 3):  # dictionaries, and batches of rows
            for offset, n_header in footer.structs(field, "<qi12x"):
                total += _batch_size(file, offset, n_header)
    return total


def _batch_size(file, offset, n_header):
    """The bytes of all buffers of a batch, unpacked."""
    file.seek(offset)
    header = file.read(n_header)
    # Since version 0.15 of Arrow four bytes of continuation come first.
    message = _Table.root(header[8 if header.startswith(b"\xff" * 4) else 4 :])
    batch = message.table(2)
    if message.number(1, "<B") == 2:  # a dictionary, which has its batch inside
        batch = batch.table(1)
    is_packed = batch.place(3) is not None
    total = 0
    for begin, size in batch.structs(2, "<qq"):
        if is_packed and size >= 8:
            file.seek(offset + n_header + begin)
            (unpacked,) = struct.unpack("<q", file.read(8))
            size = max(size, unpacked)
        total += size
    return total


class _Table:
    """A table of FlatBuffers: fields by number, each at a place or absent."""

    def __init__(self, data, at):
        self.data, self.at = data, at
        self.fields = at - self._get("<i", at)

    @classmethod
    def root(cls, data):
        return cls(data, struct.unpack_from("<I", data)[0])

    def _get(self, form, at):
        return struct.unpack_from(form, self.data, at)[0]

    def place(self, field):
        """Where a field is; None if the table does not have it."""
        entry = 4 + 2 * field
        if entry >= self._get("<H", self.fields):
            return None
        offset = self._get("<H", self.fields + entry)
        return self.at + offset if offset else None

    def number(self, field, form):
        """A number; 0 if it is absent."""
        place = self.place(field)
        return 0 if place is None else self._get(form, place)

    def table(self, field):
        """A table in this one."""
        place = self.place(field)
        return _Table(self.data, place + self._get("<I", place))

    def structs(self, field, form):
        """The numbers of each struct of a list."""
        place = self.place(field)
        if place is None:
            return []
        start = place + self._get("<I", place)
        size = self._get("<I", start) * struct.calcsize(form)
        # An altered length is an error of iter_unpack, unless it is a shorter list.
        if size > len(self.data):
            raise struct.error("a list is longer than its header")
        return list(struct.iter_unpack(form, self.data[start + 4 :][:size]))
