"""Ops: outputs and gradients of the cases that tests/support/oracle.h collects. Usage: ops.py DIR"""

from cases import answer_all  # first: it exits when PyTorch is missing

import ops_attention
import ops_elementwise
import ops_memory
import ops_optimizer
import ops_sru
import ops_vocabulary
import philox
import torch

OPS = {}
for family in (ops_attention, ops_elementwise, ops_memory, ops_optimizer, ops_sru, ops_vocabulary):
    OPS.update(family.OPS)


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
    return {"outputs": [answers.write(o) for o in outputs], "gradients": gradients}


if __name__ == "__main__":
    philox.check_known_answers()
    answer_all(answer)
