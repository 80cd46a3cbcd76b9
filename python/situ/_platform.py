"""Machines as Python objects, written as platform files; and the devices of any platform."""

from __future__ import annotations

import ctypes
import json
import os
from dataclasses import dataclass
from typing import Any

from . import _interface as c
from ._graph import DTYPES
from ._library import lib, make, make_text, summary, to_bytes, to_str

UNLIMITED_BYTES = 2**63 - 1


@dataclass(frozen=True)
class Device:
    """A device of a platform. `memory_bytes` is None if no limit is known."""

    name: str
    class_name: str
    is_host: bool
    memory_bytes: int | None
    memory_bytes_per_s: float
    peak_flops: dict[str, float]
    launch_ns: int
    server: int


class Platform:
    """A machine under description, entry by entry, with the keys of docs/formats/platform.md.

    machine = situ.Platform("my box")
    machine.add_device("cpu", base="cpu")
    machine.add_device("npu", count=2, memory_gb=8, memory_gb_per_s=60, peak_tflops={"f32": 1, "i8": 32})
    machine.add_link("cpu", "npu", kind="pcie4")
    """

    def __init__(self, name: str = "platform"):
        self.name = name
        self.devices: list[dict[str, Any]] = []
        self.links: list[dict[str, Any]] = []

    @classmethod
    def read(cls, platform: str | os.PathLike[str] = "this-host") -> Platform:
        """The machine of a name, of a platform file, or of a file with outputs of nvidia-smi and similar tools; by
        default the one that this runs on. Every figure is spelled out, and `source` of each entry says where it comes
        from.

        situ.Platform.read("cpu+2*rtx3090").devices[1]["memory_bytes"]
        """
        pointer = make("situ_platform_read", to_bytes(platform))
        try:
            found = json.loads(make_text("situ_report_platform", pointer, c.SITU_REPORT_JSON, None))
        finally:
            lib.situ_platform_free(pointer)
        made = cls(found["name"])
        made.devices, made.links = found["devices"], found["links"]
        return made

    def __repr__(self) -> str:
        return f"<situ.Platform {self.name!r}: {', '.join(str(d['name']) for d in self.devices)}>"

    def add_device(self, name: str, **about: Any) -> None:
        """Adds an entry of `devices` of a platform file; "class" is written class_name here."""
        self.devices.append({"name": name, **{"class" if k == "class_name" else k: v for k, v in about.items()}})

    def add_link(self, from_: str, to: str, **about: Any) -> None:
        """Adds an entry of `links` of a platform file."""
        self.links.append({"from": from_, "to": to, **about})

    def to_json(self) -> str:
        """The platform as a platform file."""
        made: dict[str, Any] = {"situ_platform": 1, "name": self.name, "devices": self.devices}
        return json.dumps({**made, "links": self.links} if self.links else made, indent=2)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a platform file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.to_json())


def devices_of(pointer: int) -> list[Device]:
    """The devices of a platform of the library, in its order."""
    d, found = c.situ_device(size=ctypes.sizeof(c.situ_device)), []
    for i in range(summary("platform", pointer).n_devices):
        lib.situ_platform_device(pointer, i, ctypes.byref(d))
        peaks = {name: d.peak_flops[k] for name, k in DTYPES.items() if d.peak_flops[k] > 0}
        found.append(
            Device(
                to_str(d.name),
                to_str(d.class_name),
                d.is_host,
                None if d.memory_bytes == UNLIMITED_BYTES else d.memory_bytes,
                d.memory_bytes_per_s,
                peaks,
                d.launch_ns,
                d.server,
            )
        )
    return found


def read_devices(platform: str | os.PathLike[str]) -> list[Device]:
    """The devices of a named platform ("cpu+2*a100-80g", "this-host") or of a platform file."""
    made = make("situ_platform_read", to_bytes(platform))
    try:
        return devices_of(made)
    finally:
        lib.situ_platform_free(made)
