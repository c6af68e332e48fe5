"""Files that appear when all of them is written, and never in part."""

import errno
import os
import threading

import pytest

from defragtrees._utils.files import atomic_file, write_atomic


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def break_off(path):
    with atomic_file(path) as draft:
        draft.write_text("half")
        raise ZeroDivisionError


def test_a_file_is_written_all_or_nothing(tmp_path):
    path = tmp_path / "a.txt"
    write_atomic(path, "one")
    with pytest.raises(TypeError):
        write_atomic(path, 3)
    with pytest.raises(ZeroDivisionError):
        break_off(path)
    assert path.read_text("utf-8") == "one"
    assert names_in(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("content", ["naïve\n", "naïve\n".encode()])
def test_texts_are_utf_8_and_line_ends_stay(tmp_path, content):
    write_atomic(tmp_path / "a.txt", content)
    assert (tmp_path / "a.txt").read_bytes() == b"na\xc3\xafve\n"


@pytest.mark.skipif(os.name != "posix", reason="needs permissions")
def test_a_file_that_is_replaced_keeps_its_permissions(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    path.chmod(0o640)
    write_atomic(path, "new")
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o640
    umask = os.umask(0o022)
    try:
        write_atomic(tmp_path / "b.txt", "new")
    finally:
        os.umask(umask)
    # Others may read it, as any file that a program writes.
    assert (tmp_path / "b.txt").stat().st_mode & 0o777 == 0o644


@pytest.mark.skipif(os.name != "posix", reason="needs permissions")
def test_a_draft_is_no_more_open_than_what_it_replaces(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    path.chmod(0o600)
    with atomic_file(path) as draft:
        draft.write_text("secret")
        assert draft.stat().st_mode & 0o777 == 0o600
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(os.name != "posix", reason="needs modes")
@pytest.mark.parametrize("mode", [0o000, 0o400, 0o444, 0o660])
def test_a_file_keeps_its_mode_and_nobody_reads_the_draft(tmp_path, mode):
    path = tmp_path / "a.txt"
    path.write_text("one")
    path.chmod(mode)
    with atomic_file(path) as draft:
        assert draft.stat().st_mode & 0o777 == 0o600
        draft.write_text("two")
    assert path.stat().st_mode & 0o777 == mode
    path.chmod(0o600)
    assert path.read_text() == "two"


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away"
)
def test_a_file_keeps_its_owner_and_group(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("one")
    path.chmod(0o640)
    os.chown(path, 1234, 4321)
    write_atomic(path, "two")
    found = path.stat()
    assert (found.st_uid, found.st_gid, found.st_mode & 0o777) == (1234, 4321, 0o640)


@pytest.mark.skipif(not hasattr(os, "chown"), reason="needs groups")
def test_another_group_may_do_no_more_than_everybody(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    path.write_text("one")
    path.chmod(0o664)
    stat = os.stat_result

    def refuse(*given):
        raise PermissionError(errno.EPERM, "no")

    class Foreign(type(path)):
        def stat(self, **options):
            found = super().stat(**options)
            is_draft = self.name.startswith(".defragtrees-")
            return stat([*found[:5], found[5] + is_draft, *found[6:]])

    monkeypatch.setattr(os, "chown", refuse)
    monkeypatch.setattr("defragtrees._utils.files.Path", Foreign)
    write_atomic(path, "two")
    assert path.read_text() == "two"
    assert path.stat().st_mode & 0o777 == 0o644


@pytest.mark.skipif(os.name != "posix", reason="needs links")
def test_a_link_keeps_its_place(tmp_path):
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to("real.txt")
    write_atomic(tmp_path / "link.txt", "new")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "new"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_text()), daemon=True)
    reader.start()
    write_atomic(pipe, "all of it")
    reader.join(120)  # at most; it is done when all is read
    assert got == ["all of it"]
    assert pipe.is_fifo()
    assert names_in(tmp_path) == ["pipe"]


def test_an_error_names_the_file_and_not_its_draft(tmp_path):
    path = tmp_path / "a.txt"
    with pytest.raises(OSError, match="space") as caught, atomic_file(path) as draft:
        raise OSError(errno.ENOSPC, "No space left on device", str(draft))
    assert caught.value.filename == str(path)
    # One about another file stays as it is.
    with pytest.raises(FileNotFoundError) as caught, atomic_file(path):
        (tmp_path / "input.csv").read_text()
    assert caught.value.filename == str(tmp_path / "input.csv")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder") as caught:
        write_atomic(tmp_path / "folder", "text")
    assert caught.value.filename == str(tmp_path / "folder")
    assert names_in(tmp_path) == ["folder"]


def test_a_folder_that_is_not_there_is_told(tmp_path):
    with pytest.raises(FileNotFoundError, match="Create it first"):
        write_atomic(tmp_path / "no" / "a.txt", "text")
