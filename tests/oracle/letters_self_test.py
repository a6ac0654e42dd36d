"""Laws of letters.py that hold whatever the weights are. Run by letters.py --self-test."""

import itertools
import math

import torch

from letters import Settings, Weights, answer, scored, segment, self_attention, sinusoids

BASE = {"width": 12, "vocabulary": 23, "heads": [2], "inner": [10], "projection": [6], "projection_heads": 2,
        "memory_length": 64, "context": 32}
RELATIVE = {"positions": "relative", "scale_embedding": True}
ADAPTIVE = {"cutoffs": [7, 12, 19], "tie_projections": [False, True, True, True], "output_bias": True}


class RandomWeights(Weights):
    """Makes a parameter of the shape it is asked for, large enough that every part of the model matters."""

    def __init__(self, **fixed):
        super().__init__(fixed)

    def __call__(self, name, *shape):
        if name not in self.values:
            gain = 1 if name.endswith("norm.weight") else 0
            self.values[name] = gain + 0.4 * torch.randn(*shape, dtype=torch.float64)
        return super().__call__(name, *shape)


def settings(arch, **changes):
    return Settings.of({"arch": arch, **BASE, **changes})


def close(what, a, b, bound=1e-11):
    error = (a - b).abs().max().item()
    assert a.shape == b.shape and error <= bound, f"{what}: off by {error}"


def run_in(s, w, tokens, lengths):
    state, logits = {}, []
    for part in tokens.split(lengths, 1):
        y, state = segment(s, w, part, state)
        logits.append(y)
    return torch.cat(logits, 1)


def segments_with_memory_equal_one_pass():
    tokens = torch.randint(0, BASE["vocabulary"], (3, 16))
    archs = ["sfsf", "(sff)x2 (f)x2", "rrr", "aa", "sifara"]
    for arch, positions, norm in itertools.product(archs, ["relative", "learned", "none"], ["pre", "post"]):
        s, w = settings(arch, positions=positions, norm=norm, attention_bias=True, rescale=True), RandomWeights()
        whole = run_in(s, w, tokens, [16])
        close(f"two segments of {arch}, {positions}, {norm}", run_in(s, w, tokens, [8, 8]), whole)
        close(f"uneven segments of {arch}, {positions}, {norm}", run_in(s, w, tokens, [1, 9, 6]), whole)
        # The law must not hold by accident: without memory the second segment differs, except for r.
        s.memory_length = 0
        cut = (run_in(s, w, tokens, [8, 8]) - whole)[:, 8:].abs().max().item()
        assert (cut > 1e-3) == (arch != "rrr" or positions == "learned"), f"{arch} without memory: {cut}"


def a_band_is_the_same_for_every_cut():
    tokens = torch.randint(0, BASE["vocabulary"], (2, 18))
    for arch in ["sf", "aa"]:
        s, w = settings(arch, band=4, memory_length=4, **RELATIVE), RandomWeights()
        close(f"band over {arch}", run_in(s, w, tokens, [6, 6, 6]), run_in(s, w, tokens, [18]))
    # Once memory is full, the "nv" mask is a band of memory_length keys before each query.
    s, w = settings("s", same_length="nv", memory_length=6, **RELATIVE), RandomWeights()
    band = settings("s", band=6, memory_length=6, **RELATIVE)
    close("same_length", run_in(s, w, tokens, [6, 6, 6])[:, 6:], run_in(band, w, tokens, [6, 6, 6])[:, 6:])


def without_alpha_an_attending_block_only_recurs():
    tokens = torch.randint(0, BASE["vocabulary"], (2, 7))
    zero = torch.zeros(1, dtype=torch.float64)
    w = RandomWeights(**{"blocks.0.recurrence.alpha": zero, "blocks.1.recurrence.alpha": zero})
    close("alpha = 0", run_in(settings("aa"), w, tokens, [7]), run_in(settings("rr"), w, tokens, [7]))
    w.values["blocks.1.recurrence.alpha"] = zero + 1
    assert (run_in(settings("aa"), w, tokens, [7]) - run_in(settings("rr"), w, tokens, [7])).abs().max() > 1e-3


def shifting_as_a_tensor_equals_the_index():
    """One s block written as in Dai and others 2019: all rows, a column of zeros, the same numbers read with another width."""
    for T, M, clamp in itertools.product([1, 2, 5], [0, 3, 9], [0, 4]):
        s, w = settings("s", norm="post", clamp=clamp, **RELATIVE), RandomWeights()
        B, D, H, K = 2, 12, 2, T + M
        e = D // H
        x, memory = torch.randn(B, T, D, dtype=torch.float64), torch.randn(B, M, D, dtype=torch.float64)
        found = self_attention(s, w, "blocks.0", x, memory, 0)
        part = {name.split("attention.")[-1]: value for name, value in w.values.items()}
        rows = torch.cat([memory, x], 1)
        q = (x @ part["q.weight"]).view(B, T, H, e)
        k, v = ((rows @ half).view(B, K, H, e) for half in part["kv.weight"].split(D, 1))
        distances = torch.tensor([min(K - 1 - j, clamp) if clamp else K - 1 - j for j in range(K)])
        r = (sinusoids(distances, D) @ part["r.weight"]).view(K, H, e)
        raw = torch.einsum("bihe,khe->bhik", q + part["w"].view(H, e), r)
        padded = torch.cat([torch.zeros(B, H, T, 1, dtype=torch.float64), raw], -1)
        shifted = padded.view(B, H, K + 1, T)[:, :, 1:].reshape(B, H, T, K)
        score = (torch.einsum("bihe,bjhe->bhij", q + part["u"].view(H, e), k) + shifted) / math.sqrt(e)
        score = score.masked_fill(torch.ones(T, K, dtype=torch.bool).triu(M + 1), -math.inf)
        mixed = torch.einsum("bhij,bjhe->bihe", score.softmax(-1), v).reshape(B, T, D)
        y = x + mixed @ part["out.weight"]
        expected = w.norm("blocks.0.norm", y, s.epsilon)
        close(f"shift of T {T}, M {M}, clamp {clamp}", found, expected)


def adaptive_probabilities_sum_to_one():
    tokens = torch.randint(0, BASE["vocabulary"], (2, 5))
    every_word = torch.arange(BASE["vocabulary"]).repeat(10).view(2, -1)
    for division, width, order, tied in itertools.product([1, 2], [0, 8], ["forward", "reverse"], [True, False]):
        s = settings("sf", division=division, embedding_width=width, cluster_order=order, tie_weights=tied, **ADAPTIVE, **RELATIVE)
        logits, _ = segment(s, w := RandomWeights(), tokens, {})
        close("sum of probabilities", logits.exp().sum(-1), torch.ones(2, 5, dtype=torch.float64))
        losses, _ = scored(s, logits.repeat_interleave(BASE["vocabulary"], 1), every_word[:, : 5 * BASE["vocabulary"]])
        close("losses", losses.view(2, 5, -1), -logits)
        assert ("output.projection.0" in w.values) == (division > 1 or width == 8), sorted(w.values)
        assert "output.projection.1" not in w.values


class Direct:
    """Stands for the files: tensors are handed over as they are."""

    def read(self, at):
        return at.clone()

    def write(self, tensor):
        return tensor.detach()


def gradients_are_those_of_one_segment():
    """By central differences, state of the earlier segment held fixed; parameters of the wrong name are refused."""
    s = {"arch": "sfia", **BASE, **RELATIVE, "memory_length": 3, "same_length": "nv"}
    tokens = torch.randint(0, BASE["vocabulary"], (2, 3, 2, 4))
    segments = [{"tokens": t, "targets": y} for t, y in zip(tokens[0], tokens[1])]
    segments[1]["targets"][0, 0] = -1
    w = RandomWeights()
    _, fixed = segment(Settings.of(s), w, segments[0]["tokens"], {})
    case = {"name": "", "settings": s, "parameters": w.values, "segments": segments, "gradient_segment": 1}
    found = answer(case, Direct(), Direct())

    def loss():
        return scored(Settings.of(s), segment(Settings.of(s), w, segments[1]["tokens"], fixed)[0], segments[1]["targets"])[1]

    close("mean", found["segments"][1]["mean"], loss())
    for name, value in w.values.items():
        direction = torch.randn_like(value)
        slope, step = 0, 1e-5
        for sign in (1, -1):
            w.values[name] = value + sign * step * direction
            slope = slope + sign * loss() / (2 * step)
        w.values[name] = value
        close(f"gradient of {name}", (found["gradients"][name] * direction).sum().reshape(1), slope, 1e-6)
    assert found["state"]["blocks.0.memory"].shape == (2, 3, 12) and found["state"]["blocks.3.cell"].shape == (2, 12)
    for wrong in ["blocks.2.norm.weight", "output.bias"]:
        try:
            answer({**case, "parameters": {**w.values, wrong: torch.ones(12)}}, Direct(), Direct())
        except AssertionError as error:
            assert wrong in str(error), error
        else:
            raise AssertionError(f"{wrong} was taken")


def parameters_are_those_of_the_papers():
    """Counts of Transformer-XL (Dai and others 2019), PAR (Mandava and others 2020) and SRU++ (Lei 2021), at a small size."""

    def count(s):
        segment(s, w := RandomWeights(), torch.zeros(1, 2, dtype=torch.long), {})
        return sum(value.numel() for value in w.values.values())

    d, V, F, P = 12, 23, 10, 6
    s_block, f_block = 5 * d * d + 2 * d, 2 * d * F + F + 3 * d
    head = V * d + V + 3 * (d + 1)
    assert count(settings("(sfff)x2 (f)x3", **ADAPTIVE, **RELATIVE)) == 2 * s_block + 9 * f_block + 2 * d + head
    r_block = 4 * d * P + 2 * P + 4 * d
    assert count(settings("(rrra)x2", tie_weights=False, output_bias=True)) == 8 * r_block + 2 * (2 * P * P + 1) + 2 * V * d + V


def main():
    torch.manual_seed(3)
    torch.set_num_threads(1)
    for law in (segments_with_memory_equal_one_pass, a_band_is_the_same_for_every_cut,
                without_alpha_an_attending_block_only_recurs, shifting_as_a_tensor_equals_the_index,
                adaptive_probabilities_sum_to_one, gradients_are_those_of_one_segment, parameters_are_those_of_the_papers):
        law()
        print("holds:", law.__name__.replace("_", " "))
