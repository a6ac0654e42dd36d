"""safetensors with struct, json and numpy alone.

write FILE:  a file for heed to read, with FILE.f32: what its floating point tensors should become, sorted by name
check FILE:  a file heed wrote; prints one line per tensor: name, type, shape, and its numbers in full
"""

import json
import struct
import sys

try:
    import numpy as np
except ImportError as error:
    print(error)
    sys.exit(3)


def bf16(values):
    """The upper half of the float, rounded to even."""
    bits = values.astype("<f4").view("<u4").astype(np.uint64)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype("<u2")


def write(path):
    rng = np.random.default_rng(1)
    all_halves = np.arange(1 << 16, dtype="<u2")
    tensors = {
        "half": ("F16", [2, 1 << 15], all_halves.view("<f2")),
        "brain": ("BF16", [1 << 16], all_halves),
        "rounded": ("BF16", [7], bf16(rng.normal(size=7).astype("<f4"))),
        "byte": ("U8", [3], np.array([1, 2, 255], dtype="u1")),  # what follows is at odd addresses
        "double": ("F64", [3, 2, 1], rng.normal(size=6).astype("<f8")),
        "single": ("F32", [5], rng.normal(size=5).astype("<f4")),
        "scalar": ("F32", [], np.array([1.5], dtype="<f4")),
        "nothing": ("F32", [0, 4], np.zeros(0, dtype="<f4")),
        "six": ("F32", [1, 2, 1, 2, 1, 1], rng.normal(size=4).astype("<f4")),
        "small": ("I8", [3], np.array([-128, 0, 127], dtype="i1")),
        "long": ("I64", [2], np.array([-1, 1 << 40], dtype="<i8")),
        "int": ("I32", [3], np.array([-(2**31), 0, 2**31 - 1], dtype="<i4")),
        "flag": ("BOOL", [1], np.array([1], dtype="u1")),
        "n\u00e4me \U0001f600 \"quoted\"": ("F32", [1], np.array([3], dtype="<f4")),
    }
    header, data = {"__metadata__": {"format": "pt", "by": "a test"}}, b""
    for name, (dtype, shape, values) in tensors.items():
        raw = values.tobytes()
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)

    with open(path + ".f32", "wb") as file, np.errstate(over="ignore"):
        for name, (dtype, shape, values) in sorted(tensors.items()):
            if dtype == "BF16":
                (values.astype("<u4") << 16).tofile(file)
            elif dtype in ("F16", "F32", "F64"):
                values.astype("<f4").tofile(file)


def check(path):
    raw = open(path, "rb").read()
    (length,) = struct.unpack("<Q", raw[:8])
    text, data = raw[8 : 8 + length], raw[8 + length :]
    assert length <= 100_000_000 and text[:1] == b"{" and (8 + length) % 64 == 0
    header = json.loads(text)
    metadata = header.pop("__metadata__", {})
    assert all(isinstance(value, str) for value in metadata.values())
    assert list(header) == sorted(header)
    at = 0
    for name, tensor in header.items():
        begin, end = tensor["data_offsets"]
        assert begin == at and set(tensor) == {"dtype", "shape", "data_offsets"}
        values = np.frombuffer(data[begin:end], dtype={"F32": "<f4", "F16": "<f2", "I32": "<i4"}[tensor["dtype"]])
        values = values.reshape(tensor["shape"])
        print(name, tensor["dtype"], tensor["shape"], *(repr(value) for value in values.flatten().tolist()))
        at = end
    assert at == len(data)
    print("metadata", json.dumps(metadata, sort_keys=True))


{"write": write, "check": check}[sys.argv[1]](sys.argv[2])
