"""The sums of `kernels` by PyTorch, over all rows on one device or one per worker.

Codes, targets and weights are stored on the device, feature by feature; packed lists
are sent to it and sums come back. Sums are of integers, which GPUs may add in any
order, so they equal those of the CPU to the last bit.
"""

import math

import numpy as np

from defragtrees._utils.optional import require
from defragtrees.data.devices import KeptWithItems, device_at
from defragtrees.data.shards import BOXES_A_WORD
from defragtrees.search.all_rows import TARGET_BITS, ShardKeeper

# Copies of one sum, as a GPU is faster with few collisions. On a CPU one is enough.
N_COPIES = 64
MOST_JOINED = 1024  # bins of features that are summed together


class TorchKeeper:
    """Sums over the rows of shards of integers, which are copied to a device."""

    def __init__(self, parts, device):
        torch = require("torch", 'engine="cuda"')
        self.torch, self.device = torch, torch.device(device)
        self.n_copies = N_COPIES if self.device.type == "cuda" else 1
        n_rows = sum(map(len, parts))
        first = parts[0]
        kind = torch.uint8 if first.codes.dtype == np.uint8 else torch.int16
        if first.codes.dtype == np.uint32:
            kind = torch.int32
        n_features, n_outputs = first.codes.shape[1], first.targets["target"].shape[1]
        self.codes = self._empty((n_features, n_rows), kind)
        self.target = self._empty((n_outputs, n_rows), torch.int64)
        # Without rows all classes are present.
        has_classes = sum(len(part.targets["classes"]) for part in parts) == n_rows
        self.classes = self._empty(n_rows, torch.int64) if has_classes else None
        self.weight = None
        if any(part.weight is not None for part in parts):
            self.weight = self._empty(n_rows, torch.float64)
        begin = 0
        for part in parts:
            self._load(part, slice(begin, begin + len(part)))
            begin += len(part)
        self.joint = {}
        self.copy = torch.arange(n_rows, device=self.device) % self.n_copies

    def _empty(self, shape, kind):
        return self.torch.empty(shape, dtype=kind, device=self.device)

    def there(self, array):
        array = np.ascontiguousarray(array)
        if array.dtype in (np.uint16, np.uint32):
            array = array.view(np.int16 if array.dtype == np.uint16 else np.int32)
        return self.torch.from_numpy(array).to(self.device)

    def _load(self, part, rows):
        self.codes[:, rows] = self.there(part.codes).T
        self.target[:, rows] = self.there(part.targets["target"]).T.long()
        if self.classes is not None:
            self.classes[rows] = self.there(part.targets["classes"]).long()
        if self.weight is not None:
            self.weight[rows] = self.there(part.sample_weight)

    def code(self, j, rows=slice(None)):
        """The codes of a feature as indices; those of two bytes are unsigned."""
        code = self.codes[j][rows].long()
        return code & 0xFFFF if self.codes.dtype == self.torch.int16 else code

    def square(self):
        """The weighted sum of squared targets."""
        total = (self.target.double() / 2**TARGET_BITS).square().sum(dim=0)
        weighted = total if self.weight is None else total * self.weight
        return float(weighted.sum())

    def counts(self, lists, n_classes, bits):
        """The counts of all PackedLists, concatenated in one array."""
        torch = self.torch
        units = torch.full((), 1 << bits, dtype=torch.int64, device=self.device)
        units = units.expand(self.codes.shape[1])
        if self.weight is not None:
            units = torch.round(self.weight * (1 << bits)).long()
        columns = [units * one for one in self.target]
        if not n_classes:  # else it is the sum over classes
            columns.insert(0, units)
        found = []
        for own in lists:
            rule = self._answering(own)
            sums = [self.added(rule, one, own.n_rules) for one in columns]
            if n_classes:
                place = rule * n_classes + self.classes
                by_class = self.added(place, units, own.n_rules * n_classes)
                by_class = by_class.reshape(own.n_rules, n_classes)
                sums = [by_class.sum(dim=1), *sums, *by_class.T]
            found.append(torch.stack(sums, dim=1).ravel())
        return torch.cat(found).cpu().numpy()

    def _answering(self, own):
        """The rule of a PackedList that predicts each row, as a tensor."""
        held = [~word for word in self._looked_up(own)[0]]
        return self._first_box(held, own.n_boxes)

    def gains(self, lists, columns, places):
        """The gains of all PackedLists, concatenated; see `plain_list_gains`."""
        parts = [self._gains(own, columns, places).ravel() for own in lists]
        return self.torch.cat(parts).cpu().numpy()

    def _gains(self, own, columns, places):
        n_boxes, n_places = own.n_boxes, int(places[-1])
        sums = self._empty((n_boxes + 1, n_places), self.torch.int64).zero_()
        once, twice, looked = self._looked_up(own, keeps=True)
        held = [~word for word in once]
        taker = self._first_box(held, n_boxes)
        after = self._after(held, taker, n_boxes)
        gain = self._row_gains(own, taker.clamp(max=n_boxes - 1), after)
        for group, widths in self._groups(columns, np.diff(places)):
            size = math.prod(widths)
            place = taker * size + self._joint_code(columns[group], widths)
            found = self.added(place, gain, (n_boxes + 1) * size)
            found = found.reshape(n_boxes + 1, *widths)
            for at, c in enumerate(group, start=1):
                others = [d for d in range(1, found.ndim) if d != at]
                own_sums = found.sum(dim=others) if others else found
                sums[:, places[c] : places[c + 1]] += own_sums
        starts = dict(zip(columns.tolist(), places.tolist(), strict=False))
        for k in range(n_boxes):
            word, bit = divmod(k, BOXES_A_WORD)
            is_near = (once[word] >> bit & 1) & ~(twice[word] >> bit) & 1
            near = self.torch.nonzero((is_near == 1) & (taker > k)).ravel()
            boxes = self.torch.full_like(near, k)
            gain = self._row_gains(own, boxes, taker[near], near)
            place = self.torch.zeros_like(near)
            for j, words in zip(own.used.tolist(), looked[word], strict=True):
                # Only one feature rejects the row.
                place += (words[near] >> bit & 1) * (self.code(j, near) + starts[j])
            sums[k] += self.added(place, gain, n_places, near)
        return sums[:n_boxes]

    def _groups(self, columns, widths):
        """Join columns with few bins, as a sum costs the same for few and many bins.

        Pairs of positions in `columns`, and their numbers of bins.
        """
        groups, size = [], MOST_JOINED + 1
        for c in np.argsort(widths, kind="stable").tolist():
            if size * widths[c] > MOST_JOINED:
                groups.append([])
                size = 1
            groups[-1].append(c)
            size *= int(widths[c])
        return [(group, [int(widths[c]) for c in group]) for group in groups]

    def _joint_code(self, features, widths):
        """One code for the codes of some features together."""
        if len(features) == 1:
            return self.code(int(features[0]))
        key = tuple(features.tolist())
        if key not in self.joint:
            code = 0
            for j, width in zip(key, widths, strict=True):
                code = code * width + self.code(j)
            self.joint[key] = code.int()
        return self.joint[key].long()

    def _looked_up(self, own, keeps=False):
        """Words of the boxes that reject a row once, twice, and by each feature."""
        rejects = self.there(own.rejects)
        once, twice, looked = [], [], []
        for word in rejects:
            n_rows = self.codes.shape[1]
            first, second = (
                self._empty(n_rows, self.torch.int64).zero_() for _ in range(2)
            )
            kept = []
            for j, start in zip(own.used.tolist(), own.starts.tolist(), strict=True):
                more = word[self.code(j) + start]
                second |= first & more
                first |= more
                if keeps:
                    kept.append(more)
            once.append(first)
            twice.append(second)
            looked.append(kept)
        return (once, twice, looked) if keeps else (once, twice)

    def _first_box(self, held, n_boxes):
        """The first box whose bit is set; the number of boxes if there is none."""
        answering = self._empty(self.codes.shape[1], self.torch.int64).fill_(n_boxes)
        for k in range(n_boxes - 1, -1, -1):
            word, bit = divmod(k, BOXES_A_WORD)
            answering.masked_fill_((held[word] >> bit & 1) == 1, k)
        return answering

    def _after(self, held, taker, n_boxes):
        """The first box after the one that takes a row."""
        after = self.torch.full_like(taker, n_boxes)
        for k in range(n_boxes - 1, 0, -1):
            word, bit = divmod(k, BOXES_A_WORD)
            after.masked_fill_(((held[word] >> bit & 1) == 1) & (taker < k), k)
        return after

    def _row_gains(self, own, boxes, after, rows=None):
        """Gains if boxes take rows from the rules `after`."""

        def at(array):
            return array if rows is None else array[..., rows]

        place = boxes * own.n_rules + after
        level = self.there(own.level)
        n_kinds = level.shape[2]
        kind = place if n_kinds == 1 else place * n_kinds + at(self.classes)
        gain = level.ravel()[kind]
        slope = self.there(own.slope).flatten(0, 1)
        for c, one in enumerate(self.target):
            gain = gain + slope[:, c][place] * at(one)
        if self.weight is not None:
            gain = self.torch.round(at(self.weight) * gain).long()
        return gain

    def added(self, place, values, n_places, rows=None):
        """Sums of numbers by index; each copy of a sum gets some of the rows."""
        copy = self.copy if rows is None else self.copy[rows]
        sums = self._empty(n_places * self.n_copies, values.dtype).zero_()
        sums.scatter_add_(0, place * self.n_copies + copy, values.contiguous())
        return sums.reshape(n_places, self.n_copies).sum(dim=1)


KEPT = KeptWithItems()  # TorchKeepers of this process with their shards


class DeviceKeeper(ShardKeeper):
    """Sums over the rows of shards by a device of each worker."""

    def __init__(self, shards, device):
        super().__init__(shards)
        self.device = device

    def counts(self, lists, n_classes, bits):
        """See ShardKeeper."""
        return self._summed("counts", lists, n_classes, bits)

    def gains(self, lists, columns, places):
        """See ShardKeeper."""
        return self._summed("gains", lists, columns, places)

    def _summed(self, verb, *arguments):
        return self.shards.total_of_groups(
            _answered, self.device, verb, arguments, in_any_order=True
        )


def _answered(shards, place, device, verb, arguments):
    """The result of the TorchKeeper of some shards, which is cached with them."""
    return KEPT.use(
        shards,
        device,
        device_at(device, place),
        lambda there: TorchKeeper(shards, there),
        lambda keeper: getattr(keeper, verb)(*arguments),
    )
