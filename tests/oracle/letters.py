"""Any string over the letters s f i r a, as one dense model in double with autograd as the judge.

usage: letters.py DIR | letters.py --self-test

Files and numbers ("at") as in cases.py.
DIR/cases.json:   {"cases": [{"name", "settings": {...},        as Settings below
                              "parameters": {name: at},         exactly those the settings need
                              "segments": [{"tokens": at [B, T], "targets": at [B, T]}, ...],  negative target: not counted
                                          of an encoder also "padding": at [B, T], 1 for padding; "types": at [B, T], if its
                                          embedding has types; "next_sentence": at [B], labels for the head "bert"
                              "state": {name: at},              optional; blocks.{i}.memory [B, M, D], blocks.{i}.cell [B, D]
                              "gradient_segment": k}]}          optional; the last one if absent
DIR/answers.json: {"cases": [{"name", "segments": [{"logits": at [B, T, V], "losses": at [B * T], "mean": at [1]}, ...],
                              "gradients": {name: at}, "state": {name: at}}]}    or {"name", "error"}
With cutoffs "logits" are log-probabilities of all words. Gradients are those of the mean loss of segment k; memory and cells that
come from earlier segments are constants. State is what the last segment leaves.
"""

from cases import answer_all  # first: it exits when PyTorch is missing

import collections
import dataclasses
import math
import re
import sys

import torch
import torch.nn.functional as F
from ops_attention import attention
from ops_elementwise import ACTIVATIONS
from ops_sru import sru
from ops_vocabulary import adaptive_embedding, adaptive_log_probabilities, losses_of, mean_loss


@dataclasses.dataclass
class Settings:
    arch: str  # "sfsf", "(sf)x2", "(sfff)x6 (f)x8"; i keeps its number but has no weights
    width: int
    vocabulary: int
    stack: str = "decoder"
    embedding: str = "tokens"
    head: str = "next-token"
    mix: int = 0  # so many blocks in a row are alternatives, mixed by softmax of layers.{l}.theta
    heads: list = (1,)  # lists: one entry for all, or one per letter that has the thing
    head_width: int = 0  # 0: width / heads
    inner: list = (0,)
    projection: list = (0,)
    projection_heads: int = 1
    norm: str = "pre"
    final_norm: bool = False
    epsilon: float = 1e-5
    activation: str = "relu"
    positions: str = "none"
    attention_bias: bool = False
    shared_position_bias: bool = True
    context: int = 0
    types: int = 0
    embedding_width: int = 0  # 0: width
    cutoffs: list = ()
    division: int = 1
    scale_embedding: bool = False
    tie_weights: bool = True
    tie_projections: list = ()
    output_bias: bool = False
    cluster_order: str = "forward"
    highway_bias: float = 0.0
    rescale: bool = False
    memory_length: int = 0  # rows of input each attending block keeps
    same_length: str = "none"
    band: int = -1  # keys before itself that a query sees; -1: all
    clamp: int = 0  # greatest distance with a vector of its own; 0: none

    @classmethod
    def of(cls, given):
        """The family's name and rates of dropout have no effect here; an unknown setting is refused by Python itself."""
        return cls(**{k: v for k, v in given.items() if k != "backbone" and not k.endswith("dropout")})

    def letters(self):
        known = "".join(BLOCKS)
        grouped = re.sub(rf"\(([{known}]+)\)(?:x(\d+))?", lambda m: m[1] * int(m[2] or 1), self.arch)
        flat = re.sub(r"[\s.]", "", grouped)
        assert re.fullmatch(f"[{known}]+", flat), f"not an architecture: {self.arch}"
        return flat

    def clusters(self):
        """Ends of the clusters, the last one V; widths of their tables."""
        ends = [*self.cutoffs, self.vocabulary]
        e = self.embedding_width or self.width
        return ends, [e] if self.single_table() else [e // self.division**i for i in range(len(ends))]

    def single_table(self):
        return not self.cutoffs or self.division == 1


def pick(values, ordinal):
    values = values if isinstance(values, (list, tuple)) else [values]
    assert len(values) == 1 or ordinal < len(values), f"{len(values)} entries, and entry {ordinal} is asked for"
    return values[0] if len(values) == 1 else values[ordinal]


class Weights:
    """Parameters by name; who asks states the shape."""

    def __init__(self, values):
        self.values, self.asked = values, set()

    def __call__(self, name, *shape):
        assert name in self.values, f"parameter {name} {list(shape)} is missing"
        found = self.values[name]
        assert found.shape == shape, f"parameter {name} is {list(found.shape)}, not {list(shape)}"
        self.asked.add(name)
        return found

    def norm(self, name, x, epsilon):
        width = x.shape[-1]
        return F.layer_norm(x, (width,), self(name + ".weight", width), self(name + ".bias", width), epsilon)

    def linear(self, name, x, columns, bias):
        y = x @ self(name + ".weight", x.shape[-1], columns)
        return y + self(name + ".bias", columns) if bias else y


def sinusoids(distances, width):
    """[n, width]: all sines, then all cosines (Dai and others 2019)."""
    frequencies = 10000 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    angles = distances.double()[:, None] * frequencies
    return torch.cat([angles.sin(), angles.cos()], -1)


def masks(s):
    return {"window": s.band, "same_length": s.same_length, "memory_length": s.memory_length}


def self_attention(s, w, name, x, memory, ordinal, padding=None):
    H = pick(s.heads, ordinal)
    e = s.head_width or s.width // H
    M, K = memory.shape[1], memory.shape[1] + x.shape[1]
    rows = torch.cat([memory, x], 1)  # [B, K, D]
    if s.norm == "pre":
        rows = w.norm(name + ".norm", rows, s.epsilon)
    part = name + ".attention"
    relative = u = position_bias = None
    if s.positions == "relative":
        q = w.linear(part + ".q", rows[:, M:], H * e, s.attention_bias)
        k, v = w.linear(part + ".kv", rows, 2 * H * e, s.attention_bias).split(H * e, -1)
        distances = torch.arange(K - 1, -1, -1)  # row r stands for distance K-1-r
        distances = distances.clamp(max=s.clamp) if s.clamp > 0 else distances
        relative = w.linear(part + ".r", sinusoids(distances, s.width), H * e, False)
        owner = "attention" if s.shared_position_bias else part
        u, position_bias = w(owner + ".u", H * e), w(owner + ".w", H * e)
    else:
        q, k, v = w.linear(part + ".qkv", rows, 3 * H * e, s.attention_bias).split(H * e, -1)
        q = q[:, M:]
    mixed, _ = attention(q, k, v, relative=relative, u=u, v_bias=position_bias, heads=H, head_width=e, padding=padding,
                         mask="full" if s.stack == "encoder" else "causal", **masks(s))
    y = x + w.linear(part + ".out", mixed, s.width, s.attention_bias)
    return y if s.norm == "pre" else w.norm(name + ".norm", y, s.epsilon)


def feed_forward(s, w, name, x, ordinal):
    a = w.norm(name + ".norm", x, s.epsilon) if s.norm == "pre" else x
    hidden = ACTIVATIONS[s.activation](w.linear(name + ".feed_forward.in", a, pick(s.inner, ordinal), True))
    y = x + w.linear(name + ".feed_forward.out", hidden, s.width, True)
    return y if s.norm == "pre" else w.norm(name + ".norm", y, s.epsilon)


def recurrence(s, w, name, x, memory, cell, ordinal, attends):
    """SRU (Lei and others 2018), and SRU++ (Lei 2021) where it attends. The highway is the only way around it."""
    D, P = s.width, pick(s.projection, ordinal)
    part = name + ".recurrence"
    q = w.linear(part + ".down", x, P, False)
    if attends:
        z = torch.cat([w.linear(part + ".down", memory, P, False), q], 1)
        k, v = w.linear(part + ".kv", z, 2 * P, False).split(P, -1)
        mixed, _ = attention(q, k, v, heads=s.projection_heads, head_width=P // s.projection_heads, **masks(s))
        q = q + w(part + ".alpha", 1) * mixed
    slots = w.linear(part + ".up", w.norm(part + ".norm", q, s.epsilon), 3 * D, False)
    alpha = math.sqrt(1 + 2 * math.exp(s.highway_bias)) if s.rescale else 1.0
    return sru(slots, x, w(part + ".v", 2 * D), w(part + ".bias", 2 * D), cell, rescale=alpha)


def vectors(s, w, owner, part):
    """Tables [size, e] or projections [D, e], one per cluster or a single one; None where e = D in a single table."""
    ends, widths = s.clusters()
    if s.single_table():
        rows = s.vocabulary if part == "table" else s.width
        return [None if part == "projection" and widths[0] == s.width else w(f"{owner}.{part}", rows, widths[0])]
    sizes = [end - begin for begin, end in zip([0, *ends], ends)] if part == "table" else [s.width] * len(ends)
    return [w(f"{owner}.{part}.{i}", rows, e) for i, (rows, e) in enumerate(zip(sizes, widths))]


def embed(s, w, tokens, first):
    scale = math.sqrt(s.width) if s.scale_embedding else 1.0
    x = adaptive_embedding(tokens, *vectors(s, w, "embedding", "table"), *vectors(s, w, "embedding", "projection"),
                           cutoffs=s.clusters()[0], scale=scale, single_table=s.single_table())
    if s.positions == "learned":
        assert first + tokens.shape[1] <= s.context, f"positions {first} to {first + tokens.shape[1]} of {s.context}"
        x = x + w("embedding.positions", s.context, s.width)[first : first + tokens.shape[1]]
    return x


def output_projections(s, w):
    """One per cluster: its own, or that of the embedding, which has a single one for clusters of one table."""
    tied = vectors(s, w, "embedding", "projection")
    projections = [tied[0 if s.single_table() else i] for i in range(len(s.clusters()[0]))]
    for i, projection in enumerate(projections):
        if projection is not None and not pick(s.tie_projections, i):
            projections[i] = w("output.projection" + (f".{i}" if s.cutoffs else ""), *projection.shape)
    return projections


def logits_of(s, w, x):
    """[B, T, V]; with cutoffs log-probabilities."""
    tables = vectors(s, w, "embedding" if s.tie_weights else "output", "table")
    projections = output_projections(s, w)
    bias = w("output.bias", s.vocabulary) if s.output_bias else None
    if s.cutoffs:
        ends, widths = s.clusters()
        cluster = w("output.cluster.weight", len(s.cutoffs), widths[0]), w("output.cluster.bias", len(s.cutoffs))
        y = adaptive_log_probabilities(x, bias, *cluster, *tables, *projections, cutoffs=ends, order=s.cluster_order,
                                       single_table=s.single_table(), projection_of=range(len(ends)))
    else:
        y = (x if projections[0] is None else x @ projections[0]) @ tables[0].T
        y = y if bias is None else y + bias
    return y.reshape(*x.shape[:2], s.vocabulary)


def bert_norm(s, w, x, types):
    if s.types:
        x = x + w("embedding.types", s.types, s.width)[types]
    return w.norm("embedding.norm", x, s.epsilon)


def masked_words(s, w, x):
    hidden = ACTIVATIONS[s.activation](w.linear("output.transform", x, s.width, True))
    return logits_of(s, w, w.norm("output.norm", hidden, s.epsilon))


def next_sentence(w, x):
    """[B, 2], from the first token."""
    pooled = torch.tanh(w.linear("pooler", x[:, 0], x.shape[-1], True))
    return pooled @ w("next_sentence.weight", 2, x.shape[-1]).T + w("next_sentence.bias", 2)


# What the last block's output is turned into.
HEADS = {"next-token": logits_of, "masked-token": masked_words, "bert": masked_words, "hidden": lambda s, w, x: x}


def hidden_of(s, w, tokens, state, padding=None, types=None):
    """What the head reads, and the state that the next segment starts from."""
    # Without memory a segment stands alone, so its positions begin at 0.
    x = embed(s, w, tokens, state.get("first", 0) if s.memory_length > 0 else 0)
    if s.embedding == "bert":
        x = bert_norm(s, w, x, types)
    x, following = body(s, w, x, state, padding)
    following["first"] = state.get("first", 0) + tokens.shape[1]
    return x, following


def segment(s, w, tokens, state):
    """Logits, and the state that the next segment starts from."""
    x, following = hidden_of(s, w, tokens, state)
    return HEADS[s.head](s, w, x), following


def attention_block(s, w, name, x, kept, ordinal):
    return self_attention(s, w, name, x, kept["memory"], ordinal, kept["padding"]), {}


def feed_forward_block(s, w, name, x, kept, ordinal):
    return feed_forward(s, w, name, x, ordinal), {}


def recurrence_block(s, w, name, x, kept, ordinal):
    y, cell = recurrence(s, w, name, x, kept.get("memory"), kept["cell"], ordinal, attends="memory" in kept)
    return y, {"cell": cell.detach()}


# By letter: which blocks share a list of sizes with it, the states it keeps, and its formula.
BLOCKS = {
    "s": ("attention", ["memory"], attention_block),
    "f": ("feed-forward", [], feed_forward_block),
    "i": ("identity", [], lambda s, w, name, x, kept, ordinal: (x, {})),
    "r": ("recurrence", ["cell"], recurrence_block),
    "a": ("recurrence", ["memory", "cell"], recurrence_block),
}


def body(s, w, x, state, padding=None):
    """From embeddings to what the output reads, and the state."""
    ordinals = collections.Counter()
    following = {}
    branches = []
    for i, letter in enumerate(s.letters()):
        name = f"blocks.{i}"
        kind, states, formula = BLOCKS[letter]
        kept = {what: state.get(f"{name}.{what}") for what in states} | {"padding": padding}
        if "memory" in kept:
            kept["memory"] = x[:, :0] if kept["memory"] is None else kept["memory"]
            rows = torch.cat([kept["memory"], x], 1).detach()
            following[name + ".memory"] = rows[:, max(0, rows.shape[1] - s.memory_length) :]
        y, after = formula(s, w, name, x, kept, ordinals[kind])
        ordinals[kind] += 1
        following.update({f"{name}.{what}": value for what, value in after.items()})
        branches.append(y)
        if len(branches) == max(1, s.mix):
            x = y if not s.mix else sum(m * b for m, b in zip(w(f"layers.{i // s.mix}.theta", s.mix).softmax(0), branches))
            branches = []
    if s.final_norm:
        x = w.norm("norm", x, s.epsilon)
    return x, following


def scored(s, logits, targets):
    log_p = logits.flatten(0, 1) if s.cutoffs else torch.log_softmax(logits.flatten(0, 1), -1)
    losses = losses_of(log_p, targets)
    return losses, mean_loss(losses, targets)


def answer(case, numbers, answers):
    s = Settings.of(case["settings"])
    w = Weights({name: numbers.read(at).requires_grad_() for name, at in case["parameters"].items()})
    state = {name: numbers.read(at) for name, at in case.get("state", {}).items()}
    known = {f"blocks.{i}.{what}" for i, letter in enumerate(s.letters())
             for what in BLOCKS[letter][1]}
    assert set(state) <= known, f"no such state: {sorted(set(state) - known)}"
    state["first"] = max([rows.shape[1] for name, rows in state.items() if name.endswith(".memory")], default=0)
    wanted = case.get("gradient_segment", len(case["segments"]) - 1)
    results, gradients = [], {}
    for k, given in enumerate(case["segments"]):
        targets = numbers.read(given["targets"])
        encoder_inputs = {name: numbers.read(given[name]) for name in ("padding", "types") if name in given}
        hidden, state = hidden_of(s, w, numbers.read(given["tokens"]), state, **encoder_inputs)
        logits = HEADS[s.head](s, w, hidden)
        if s.head == "hidden":
            results.append({"logits": answers.write(logits)})
            continue
        losses, mean = scored(s, logits, targets)
        if s.head == "bert":
            mean = mean + F.cross_entropy(next_sentence(w, hidden), numbers.read(given["next_sentence"]))
        results.append({"logits": answers.write(logits), "losses": answers.write(losses), "mean": answers.write(mean)})
        if k == wanted:  # never with the head "hidden", which has no loss
            unused = set(w.values) - w.asked
            assert not unused, f"parameters the model does not have: {sorted(unused)}"
            found = torch.autograd.grad(mean, list(w.values.values()), allow_unused=True)
            for (name, value), gradient in zip(w.values.items(), found):
                gradients[name] = answers.write(torch.zeros_like(value) if gradient is None else gradient)
    del state["first"]
    return {"segments": results, "gradients": gradients,
            "state": {name: answers.write(value) for name, value in state.items()}}


if __name__ == "__main__":
    if sys.argv[1] == "--self-test":
        import letters_self_test  # laws that hold whatever the weights are

        letters_self_test.main()
    else:
        answer_all(answer)
