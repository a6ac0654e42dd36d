"""GPT-2 in double, from its formulas: the losses of AdamW steps. Usage: gpt2.py DIR

DIR/case.json: heads (one per layer), parameters [{name, shape}], batch, length, learning_rate, weight_decay, steps.
DIR/weights.bin: the parameters as f32, one after the other. DIR/tokens.bin: i32, tokens then targets of each step.
Writes DIR/answers.bin as f64: the loss of every step, then the parameters after the last.
"""

import array
import json
import math
import pathlib
import sys

import torch
import torch.nn.functional as F


def norm(x, weights, name):
    return F.layer_norm(x, x.shape[-1:], weights[name + ".weight"], weights[name + ".bias"], 1e-5)


def linear(x, weights, name):
    return x @ weights[name + ".weight"] + weights[name + ".bias"]


def attention(x, heads):
    batch, length, width = x.shape
    q, k, v = x.view(batch, length, 3, heads, -1).permute(2, 0, 3, 1, 4)
    future = torch.ones(length, length, dtype=torch.bool).triu(1)
    scores = (q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])).masked_fill(future, -math.inf)
    return (scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, length, width // 3)


def gelu(x):
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))


def logits(weights, heads, tokens):
    x = weights["wte.weight"][tokens] + weights["wpe.weight"][: tokens.shape[1]]
    for layer, count in enumerate(heads):
        name = f"h.{layer}."
        x = x + linear(attention(linear(norm(x, weights, name + "ln_1"), weights, name + "attn.c_attn"), count), weights, name + "attn.c_proj")
        x = x + linear(gelu(linear(norm(x, weights, name + "ln_2"), weights, name + "mlp.c_fc")), weights, name + "mlp.c_proj")
    return norm(x, weights, "ln_f") @ weights["wte.weight"].T


def main(directory):
    case = json.loads((directory / "case.json").read_text())
    raw = torch.frombuffer(bytearray((directory / "weights.bin").read_bytes()), dtype=torch.float32).double()
    weights, at = {}, 0
    for parameter in case["parameters"]:
        count = math.prod(parameter["shape"])
        weights[parameter["name"]] = raw[at:at + count].reshape(parameter["shape"]).clone().requires_grad_()
        at += count
    ids = torch.frombuffer(bytearray((directory / "tokens.bin").read_bytes()), dtype=torch.int32).long()
    ids = ids.view(case["steps"], 2, case["batch"], case["length"])

    answers = []
    optimizer = torch.optim.AdamW(weights.values(), lr=case["learning_rate"], weight_decay=case["weight_decay"])
    for step in range(case["steps"]):
        optimizer.zero_grad()
        output = logits(weights, case["heads"], ids[step, 0])
        loss = F.cross_entropy(output.flatten(0, 1), ids[step, 1].flatten())
        loss.backward()
        optimizer.step()
        answers.append(loss)
    flat = torch.cat([a.detach().flatten() for a in answers + list(weights.values())])
    with (directory / "answers.bin").open("wb") as file:
        array.array("d", flat.tolist()).tofile(file)


main(pathlib.Path(sys.argv[1]))
