"""Ways to alter a file: its bytes, its words, its JSON, the members of an archive."""

import io
import json
import zipfile

__all__ = ["alter_archive", "alter_bytes", "alter_document", "alter_text"]

# What breaks programs: nothing, too much, too small, no number, other kinds.
NUMBERS = (
    *(0, -1, 1, 2, 127, 255, 256, 65535, 10**5, 10**8, 2**31 - 1, 2**31, 2**32 + 1),
    *(2**63, 10**19, -(10**9), 0.5, -0.0, 1e-320, 1e38, 1e100, 1e308, 10**400),
    *(float("nan"), float("inf"), float("-inf")),
)
WORDS = (
    "",
    "nan",
    "inf",
    "-1e400",
    "1e19",
    "\ud800",
    "\u202e",
    "a" * 5000,
    "=1+1",
    "²",
)
OTHERS = (None, True, False, [], {}, [[]], [None], {"a": 1})
TOKENS = (b"nan", b"inf", b"-1", b"1e400", b"100000000", b"1e19", b"0", b"", b"[", b"=")


def alter_bytes(content, rng):
    """Some bytes are others, gone, twice there or cut off."""
    data = bytearray(content)
    if not data:
        return bytes(rng.randrange(256) for _ in range(8))
    way = rng.randrange(6)
    at = rng.randrange(len(data))
    if way == 0:
        data[at] ^= 1 << rng.randrange(8)
    elif way == 1:
        data[at] = rng.choice((0, 1, 127, 128, 255))
    elif way == 2:
        del data[at:]
    elif way == 3:
        end = min(len(data), at + rng.randrange(1, 64))
        data[at:at] = data[at:end]
    elif way == 4:
        del data[at : at + rng.randrange(1, 64)]
    else:
        number = rng.choice((0, 1, -1, 2**31 - 1, -(2**31), 10**8))
        data[at : at + 4] = number.to_bytes(
            4, rng.choice(("little", "big")), signed=True
        )
    return bytes(data)


def alter_text(content, rng):
    """A word or a line is another, gone, or there twice."""
    lines = content.split(b"\n")
    at = rng.randrange(len(lines))
    way = rng.randrange(4)
    if way == 0:
        del lines[at]
    elif way == 1:
        lines.insert(rng.randrange(len(lines)), lines[at])
    elif way == 2:
        other = rng.randrange(len(lines))
        lines[at], lines[other] = lines[other], lines[at]
    else:
        separator = rng.choice((b" ", b"=", b",", b":"))
        words = lines[at].split(separator)
        words[rng.randrange(len(words))] = rng.choice(TOKENS)
        lines[at] = separator.join(words)
    return b"\n".join(lines)


def alter_document(document, rng):
    """A place somewhere in JSON is another, gone, or there twice."""
    holder, key = _place(document, rng)
    if holder is None:
        return json.dumps(document).encode("utf-8", "surrogatepass")
    value = holder[key]
    way = rng.randrange(6)
    if way == 0:
        del holder[key]
    elif way == 1 and isinstance(holder, list):
        holder.insert(key, value)
    elif way == 2:
        holder[key] = rng.choice(OTHERS)
    elif way == 3:
        holder[key] = rng.choice(WORDS)
    elif way == 4 and isinstance(value, str):
        holder[key] = str(rng.choice(NUMBERS))
    else:
        holder[key] = rng.choice(NUMBERS)
    return json.dumps(document).encode("utf-8", "surrogatepass")


def _place(document, rng):
    """Somewhere in the document, deep or not: what holds it, and under which key."""
    holder, key = None, None
    here = document
    while isinstance(here, (dict, list)) and here:
        if holder is not None and rng.random() < 0.1:
            break
        keys = list(here) if isinstance(here, dict) else range(len(here))
        holder, key = here, rng.choice(keys)
        here = here[key]
    return holder, key


def alter_archive(content, rng):
    """A member of a zip archive is altered, and the archive whole again."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = {info.filename: archive.read(info) for info in archive.infolist()}
    except Exception:  # it may be altered already
        return alter_bytes(content, rng)
    name = rng.choice(sorted(members))
    if name.endswith(".json"):
        try:
            members[name] = alter_document(json.loads(members[name]), rng)
        except ValueError:
            members[name] = alter_bytes(members[name], rng)
    else:
        members[name] = alter_bytes(members[name], rng)
    changed = io.BytesIO()
    with zipfile.ZipFile(changed, "w", rng.choice((0, 8))) as archive:
        for name, member in members.items():
            archive.writestr(zipfile.ZipInfo(name), member)
    return changed.getvalue()
