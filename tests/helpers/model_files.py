"""Changes to model files."""

from __future__ import annotations

import json
import zipfile


def rewrite(path, change, compression=zipfile.ZIP_STORED):
    """Write a model file again with a changed header."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    header = json.loads(members["model.json"])
    change(header, members)
    members["model.json"] = json.dumps(header).encode()
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
