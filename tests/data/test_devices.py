"""Which GPU a process takes, and how long what is there stays."""

import gc
from types import SimpleNamespace

import pytest

from defragtrees.data.devices import KeptWithItems, check_device, device_at

torch = pytest.importorskip("torch", reason="engine='cuda' needs torch")
CPU = torch.device("cpu")


def test_processes_that_see_the_same_devices_take_turns(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 3)
    found = [device_at("cuda", place) for place in (0, 1, 2, 3, 10**9)]
    assert [own.index for own in found] == [0, 1, 2, 0, 1]
    assert {own.type for own in found} == {"cuda"}
    assert device_at("cuda:2", 0) == torch.device("cuda", 2)
    assert device_at("cpu", 5) == CPU


def test_a_device_that_is_not_there_is_refused(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    check_device("cpu")
    for refuse in (check_device, lambda device: device_at(device, 0)):
        with pytest.raises(RuntimeError, match=r"needs a CUDA device; torch .* none\."):
            refuse("cuda")


class Item:
    """Anything that can be referred to weakly."""


def test_what_is_kept_is_made_once_and_goes_with_its_items():
    kept, made = KeptWithItems(), []

    def make(device):
        made.append(device)
        return SimpleNamespace(number=len(made))

    def number(items, key="a"):
        return kept.use(items, key, CPU, make, lambda own: own.number)

    items, others = [Item(), Item()], [Item()]
    assert [number(items), number(others), number(items)] == [1, 2, 1]
    assert number(items, "b") == 3  # by another key it is another
    assert number(items, "b") == 3
    assert number(items[:1], "b") == 4  # and so it is of other items
    assert made == [CPU] * 4
    assert kept.n_made == 4
    assert len(kept.kept) == 2
    del items
    gc.collect()
    assert len(kept.kept) == 1
    assert number(others) == 2


def test_what_could_not_be_made_is_tried_again():
    kept, items = KeptWithItems(), [Item()]

    def fail(device):
        raise RuntimeError("no room")

    with pytest.raises(RuntimeError, match="no room"):
        kept.use(items, "a", CPU, fail, str)
    assert kept.use(items, "a", CPU, str, len) == 3
