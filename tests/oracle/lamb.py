"""LAMB on whole models, one step per tensor of the public code, in double. Usage: lamb.py DIR

Files and numbers ("at") as in cases.py; settings and parameters as in letters.py.
Case:   settings, parameters {name: at}, optimizer (lamb or nvlamb), learning_rate, epsilon, clip, steps [{"tokens": at [B, T], "targets": at [B * T]}]
Answer: losses at [steps], parameters {name: at} after the last step
"""

from cases import answer_all  # first: it exits when PyTorch is missing

import letters
import ops_optimizer
import torch


def published(s, values):
    """The tensors of the public code, and what makes the parameters of letters.py from them.

    NVIDIA's Transformer-XL has one matrix for queries, keys and values, and with division one bias of the output for each cluster.
    """
    tensors, parts = dict(values), {}
    for name in values:
        if ".attention.q." in name:
            kv, whole = name.replace(".q.", ".kv."), name.replace(".q.", ".qkv.")
            columns = values[name].shape[-1]
            tensors[whole] = torch.cat([tensors.pop(name), tensors.pop(kv)], -1)
            parts[name] = lambda t, whole=whole, columns=columns: t[whole][..., :columns]
            parts[kv] = lambda t, whole=whole, columns=columns: t[whole][..., columns:]
    if s.output_bias and s.division > 1:
        ends, _ = s.clusters()
        bias = tensors.pop("output.bias")
        for begin, end in zip([0, *ends], ends):
            tensors[f"output.bias.{end}"] = bias[begin:end].clone()
        parts["output.bias"] = lambda t: torch.cat([t[f"output.bias.{end}"] for end in ends])
    return tensors, lambda t: {name: parts[name](t) if name in parts else t[name] for name in values}


def answer(case, numbers, answers):
    s = letters.Settings.of(case["settings"])
    values = {name: numbers.read(at) for name, at in case["parameters"].items()}
    tensors, stored = published(s, values)
    moments = {name: (torch.zeros_like(w), torch.zeros_like(w)) for name, w in tensors.items()}
    losses = []
    for t, step in enumerate(case["steps"], 1):
        tensors = {name: w.detach().requires_grad_() for name, w in tensors.items()}
        logits, _ = letters.segment(s, letters.Weights(stored(tensors)), numbers.read(step["tokens"]), {})
        _, mean = letters.scored(s, logits, numbers.read(step["targets"]))
        losses.append(mean.detach())
        gradients = dict(zip(tensors, torch.autograd.grad(mean, list(tensors.values()))))
        clip, _ = ops_optimizer.global_norm(*gradients.values(), limit=case["clip"])
        for name, w in tensors.items():
            tensors[name], *moments[name] = ops_optimizer.OPS[case["optimizer"]](
                w.detach(), gradients[name], *moments[name], case["learning_rate"], t, clip, epsilon=case["epsilon"])
    return {"losses": answers.write(torch.stack(losses)),
            "parameters": {name: answers.write(value) for name, value in stored(tensors).items()}}


if __name__ == "__main__":
    answer_all(answer)
