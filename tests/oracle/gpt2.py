"""GPT-2 in double, from its formulas: AdamW steps. Usage: gpt2.py DIR

Files and numbers ("at") as in cases.py.
Case:   heads (one per layer), parameters {name: at}, learning_rate, epsilon, weight_decay, steps [{"tokens": at [B, T], "targets": at [B * T]}]
Answer: losses at [steps], parameters {name: at} after the last step
"""

from cases import answer_all  # first: it exits when PyTorch is missing

import math

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


def answer(case, numbers, answers):
    weights = {name: numbers.read(at).requires_grad_() for name, at in case["parameters"].items()}
    optimizer = torch.optim.AdamW(weights.values(), lr=case["learning_rate"], eps=case["epsilon"], weight_decay=case["weight_decay"])
    losses = []
    for step in case["steps"]:
        optimizer.zero_grad()
        output = logits(weights, case["heads"], numbers.read(step["tokens"]))
        loss = F.cross_entropy(output.flatten(0, 1), numbers.read(step["targets"]))
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return {"losses": answers.write(torch.stack(losses)),
            "parameters": {name: answers.write(value) for name, value in weights.items()}}


if __name__ == "__main__":
    answer_all(answer)
