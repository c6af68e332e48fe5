"""Store: results on disk, one small JSON file each, written whole or not at all."""

import json
from pathlib import Path

from defragtrees._utils.files import write_atomic

__all__ = ["Store"]


class Store:
    """The results of one run in a folder.

    Parameters
    ----------
    folder : Path
    settings : dict
        What the results depend on; those of other settings are not taken for ours.
    """

    def __init__(self, folder, settings):
        self.folder = Path(folder)
        self.settings = settings

    def _path(self, dataset, seed, part):
        name = part.replace(" ", "_").replace(",", "")
        return self.folder / f"{dataset}-{seed}-{name}.json"

    def read(self, dataset, seed, part):
        """A result, or None if it is not there or was made with other settings."""
        try:
            text = self._path(dataset, seed, part).read_text(encoding="utf-8")
            content = json.loads(text)
        except (FileNotFoundError, json.JSONDecodeError):
            return None
        return content["result"] if content["settings"] == self.settings else None

    def write(self, dataset, seed, part, result):
        """Keep a result."""
        self.folder.mkdir(parents=True, exist_ok=True)
        content = {"settings": self.settings, "result": result}
        text = json.dumps(content, indent=1, ensure_ascii=False)
        write_atomic(self._path(dataset, seed, part), text)
