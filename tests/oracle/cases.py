"""What every script here shares: cases and numbers come in DIR, answers to all of them are left there (tests/support/pytorch.h).

DIR/cases.json:   {"cases": [{"name", ...}]}; "at" stands for {"dtype", "shape", "offset"} in DIR/numbers.bin (f32, i32)
DIR/answers.json: {"cases": [{"name", ...}]} or {"name", "error"}; here "at" is {"shape", "offset"} in DIR/answers.bin (f64)
"""

import array
import json
import math
import pathlib
import sys
import traceback

NO_TORCH = 3  # tests/support/python.h knows this number

try:
    import torch
except ImportError as error:
    print(error)
    sys.exit(NO_TORCH)


class Numbers:
    """numbers.bin: 4-byte numbers, read as float64 or int64."""

    def __init__(self, path):
        self.raw = bytearray(path.read_bytes())

    def read(self, at):
        stored, wide = (torch.float32, torch.float64) if at["dtype"] == "f32" else (torch.int32, torch.int64)
        count = math.prod(at["shape"])
        if count == 0:  # torch.frombuffer refuses to read nothing
            return torch.zeros(at["shape"], dtype=wide)
        return torch.frombuffer(self.raw, dtype=stored, count=count, offset=at["offset"]).to(wide).reshape(at["shape"])


class Answers:
    """answers.bin: float64, one tensor after the other."""

    def __init__(self, path):
        self.file = path.open("wb")
        self.offset = 0

    def write(self, tensor):
        values = array.array("d", tensor.detach().to(torch.float64).flatten().tolist())
        values.tofile(self.file)
        entry = {"shape": list(tensor.shape), "offset": self.offset}
        self.offset += 8 * len(values)
        return entry


def answer_all(answer):
    """The whole of a script: answer(case, numbers, answers) gives the answer to one case, a dictionary without its name."""
    directory = pathlib.Path(sys.argv[1])
    torch.set_num_threads(1)
    numbers, answers = Numbers(directory / "numbers.bin"), Answers(directory / "answers.bin")
    results = []
    for case in json.loads((directory / "cases.json").read_text())["cases"]:
        try:
            result = answer(case, numbers, answers)
        except Exception:  # the other cases still deserve their answers
            result = {"error": traceback.format_exc(limit=-3)}
        results.append({"name": case["name"], **result})
    answers.file.close()
    (directory / "answers.json").write_text(json.dumps({"cases": results}))
