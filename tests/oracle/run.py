"""Answers the cases of tests/support/oracle.cpp: outputs and gradients in double. Usage: run.py DIR"""

import array
import json
import pathlib
import sys
import traceback

NO_TORCH = 3  # tests/support/oracle.cpp knows this number

try:
    import torch
except ImportError as error:
    print(error)
    sys.exit(NO_TORCH)

import ops_attention
import ops_elementwise
import ops_memory
import ops_optimizer
import ops_sru
import ops_vocabulary
import philox

OPS = {}
for family in (ops_attention, ops_elementwise, ops_memory, ops_optimizer, ops_sru, ops_vocabulary):
    OPS.update(family.OPS)


class Numbers:
    """numbers.bin: 4-byte numbers, read as float64 or int64."""

    def __init__(self, path):
        self.raw = bytearray(path.read_bytes())

    def read(self, at):
        count = 1
        for size in at["shape"]:
            count *= size
        if count == 0:  # torch.frombuffer refuses to read nothing
            return torch.zeros(at["shape"], dtype=torch.float64 if at["dtype"] == "f32" else torch.int64)
        stored = torch.float32 if at["dtype"] == "f32" else torch.int32
        flat = torch.frombuffer(self.raw, dtype=stored, count=count, offset=at["offset"])
        return flat.to(torch.float64 if at["dtype"] == "f32" else torch.int64).reshape(at["shape"])


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


def answer(case, numbers, answers):
    inputs = []
    for given in case["inputs"]:
        if given is None:
            inputs.append(None)
        elif "same_as" in given:
            inputs.append(inputs[given["same_as"]])
        else:
            value = numbers.read(given)
            inputs.append(value.requires_grad_(given["gradient"]))

    outputs = OPS[case["op"]](*inputs, **case["settings"])
    outputs = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]

    seeded, seeds = [], []
    for output, seed in zip(outputs, case["output_gradients"]):
        if seed is not None:
            seeded.append(output)
            seeds.append(numbers.read(seed).reshape(output.shape))
    gradients = [None] * len(inputs)
    wanted = [i for i, given in enumerate(case["inputs"]) if given and given.get("gradient")]
    connected = [(o, s) for o, s in zip(seeded, seeds) if o.requires_grad]
    if wanted and seeded:
        found = [None] * len(wanted)
        if connected:
            found = torch.autograd.grad([o for o, _ in connected], [inputs[i] for i in wanted],
                                        [s for _, s in connected], allow_unused=True)
        for i, gradient in zip(wanted, found):
            gradient = torch.zeros_like(inputs[i]) if gradient is None else gradient
            assert not gradient.isnan().any(), f"the gradient of input {i} is not a number"
            gradients[i] = answers.write(gradient)
    return {"name": case["name"], "outputs": [answers.write(o) for o in outputs], "gradients": gradients}


def main(directory):
    philox.check_known_answers()
    torch.set_num_threads(1)
    numbers = Numbers(directory / "numbers.bin")
    answers = Answers(directory / "answers.bin")
    results = []
    for case in json.loads((directory / "cases.json").read_text())["cases"]:
        try:
            results.append(answer(case, numbers, answers))
        except Exception:  # the other cases still deserve their answers
            results.append({"name": case["name"], "error": traceback.format_exc(limit=-3)})
    answers.file.close()
    (directory / "answers.json").write_text(json.dumps({"cases": results}))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
