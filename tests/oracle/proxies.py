"""Scores of untrained models from one batch (Javaheripi and others 2022, section 4.2 and appendix), in double with autograd.

usage: proxies.py DIR

Files as letters.py has them, one segment per case, and in each case "random": at [V], the map of jacob_cov.
DIR/answers.json: {"cases": [{"name", "scores": {proxy: number}}]}    or {"name", "error"}
"""

from cases import answer_all  # first: it exits when PyTorch is missing

import letters
import torch


class Recorded(letters.Weights):
    """Remembers every affine map that was made: its name, and what came out of it."""

    def __init__(self, values):
        super().__init__(values)
        self.maps = []

    def linear(self, name, x, columns, bias):
        y = super().linear(name, x, columns, bias)
        self.maps.append((name, y))
        return y


def matrices(w):
    return {name + ".weight": w.values[name + ".weight"] for name, _ in w.maps}


def loss_of(s, w, tokens, targets):
    logits, _ = letters.segment(s, w, tokens, {})
    return letters.scored(s, logits, targets)[1]


def layers(names):
    """Queries, keys and values are one map in the public code."""
    groups = {}
    for name in names:
        key = name.replace(".attention.q.", ".attention.qkv.").replace(".attention.kv.", ".attention.qkv.")
        groups.setdefault(key, []).append(name)
    return groups


def gradient_scores(s, values, tokens, targets):
    w = Recorded(values)
    loss = loss_of(s, w, tokens, targets)
    included = matrices(w)
    outputs = [y for _, y in w.maps]
    found = torch.autograd.grad(loss, [*included.values(), *outputs], create_graph=True)
    g = dict(zip(included, found[: len(included)]))
    deltas = found[len(included) :]
    norm = sum(sum((g[name] ** 2).sum() for name in names).sqrt() for names in layers(included).values())
    snip = sum((theta * g[name]).abs().sum() for name, theta in included.items())
    product = sum((g[name] * g[name].detach()).sum() for name in included)
    hessian = torch.autograd.grad(product, list(included.values()))
    grasp = sum((theta * h).sum() for theta, h in zip(included.values(), hessian))
    terms = sum((theta * h).abs().sum() for theta, h in zip(included.values(), hessian))
    per_map = {}
    for (name, a), delta in zip(w.maps, deltas):
        rows = (a * delta).reshape(-1, a.shape[-1])
        per_map[name + ".weight"] = 0.5 * (rows**2).mean(0).sum()
    fisher = 0
    for names in layers(per_map).values():
        stored = sum(w.values[n].shape[1] for n in names) if s.positions == "learned" else w.values[names[0]].shape[0]
        fisher += stored * sum(per_map[n] for n in names)
    return {"grad_norm": norm, "snip": snip, "grasp": grasp, "terms of grasp": terms, "fisher": fisher}


def agreement(s, values, tokens):
    """log |det| of how many units of the activation layers agree for each pair of tokens."""
    w = Recorded(values)
    letters.segment(s, w, tokens, {})
    agree = 0
    for name, y in w.maps:
        if name.endswith(".feed_forward.in"):
            on = (y.reshape(-1, y.shape[-1]) > 0).double()
            agree = agree + on @ on.T + (1 - on) @ (1 - on).T
    return torch.linalg.slogdet(agree)[1]


def effect(s, w, per_word, words_only):
    """[D]: what all logits, each times its number, tell of the hidden vector."""
    ends, _ = s.clusters()
    tables = letters.vectors(s, w, "embedding" if s.tie_weights else "output", "table")
    projections = letters.output_projections(s, w)
    total, begin = 0, 0
    for i, end in enumerate(ends):
        t = 0 if s.single_table() else i
        table = tables[t][begin:end] if s.single_table() else tables[t]
        columns = table.T @ per_word[begin:end]
        total = total + (columns if projections[i] is None else projections[i] @ columns)
        if i == 0 and not words_only:
            if s.cutoffs:
                rows = w("output.cluster.weight", len(s.cutoffs), tables[0].shape[1]).sum(0)
                total = total + (rows if projections[0] is None else projections[0] @ rows)
            return total
        begin = end
    return total


def jacobian_covariance(s, values, tokens, random):
    w = Recorded(values)
    x = letters.embed(s, w, tokens, 0).detach().requires_grad_()
    hidden, _ = letters.body(s, w, x, {})
    (j,) = torch.autograd.grad((hidden @ effect(s, w, random, True)).sum(), x)
    rows = j.flatten(1) if s.positions == "learned" else j.transpose(0, 1).flatten(1)
    v = torch.linalg.eigvalsh(torch.corrcoef(rows))
    return -(torch.log(v + 1e-5) + 1 / (v + 1e-5)).sum()


def synflow(s, values, length):
    w = Recorded({name: value.detach().abs().requires_grad_() for name, value in values.items()})
    x = torch.ones(1, length, s.width, dtype=torch.float64)
    if s.positions == "learned":
        x = x + w("embedding.positions", s.context, s.width)[:length]
    sinusoids, letters.sinusoids = letters.sinusoids, lambda distances, width: torch.ones(len(distances), width, dtype=torch.float64)
    try:
        hidden, _ = letters.body(s, w, x, {})
    finally:
        letters.sinusoids = sinusoids
    ones = torch.ones(s.vocabulary, dtype=torch.float64)
    flow = (hidden @ effect(s, w, ones, False)).sum()
    included = matrices(w)
    g = torch.autograd.grad(flow, list(included.values()))
    return sum((theta * gradient).abs().sum() for theta, gradient in zip(included.values(), g))


def answer(case, numbers, _):
    s = letters.Settings.of(case["settings"])
    values = {name: numbers.read(at).requires_grad_() for name, at in case["parameters"].items()}
    tokens, targets = (numbers.read(case["segments"][0][key]) for key in ("tokens", "targets"))
    scores = gradient_scores(s, values, tokens, targets)
    scores["relu_log_det"] = agreement(s, values, tokens)
    scores["jacob_cov"] = jacobian_covariance(s, values, tokens, numbers.read(case["random"]))
    scores["synflow"] = synflow(s, values, tokens.shape[1])
    return {"scores": {name: score.item() for name, score in scores.items()}}


if __name__ == "__main__":
    answer_all(answer)
