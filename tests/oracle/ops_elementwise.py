"""Linear layers, activations, layer norm and the small ops around them."""

import math

import torch

import philox

ACTIVATIONS = {
    "none": lambda x: x,
    "relu": torch.relu,
    # Hendrycks and Gimpel, "Gaussian error linear units": x Phi(x), and the approximation given there.
    "gelu": lambda x: 0.5 * x * (1 + torch.erf(x / math.sqrt(2))),
    "gelu_tanh": lambda x: 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    "tanh": torch.tanh,
}


def linear(x, w, bias=None, residual=None, *, activation="none", transposed=False, keep_preactivation=False):
    z = x @ (w.T if transposed else w)
    if bias is not None:
        z = z + bias
    y = ACTIVATIONS[activation](z)
    if residual is not None:
        y = y + residual
    return [y, z] if keep_preactivation else y


def unpacked(panels, columns):
    """[in, columns] from panels [count, in, width]: side by side, without the padding."""
    return torch.cat(list(panels), dim=1)[:, :columns]


def packed_linear(x, panels, bias=None, residual=None, *, activation="none", columns):
    return linear(x, unpacked(panels, columns), bias, residual, activation=activation)


def packed_embedding(ids, panels, positions=None, first=None, *, vocabulary, scale=1.0):
    y = scale * unpacked(panels, vocabulary).T[ids]
    if positions is not None:
        begin = 0 if first is None else int(first)
        y = y + positions[begin : begin + ids.shape[-1]]
    return y


def activation(x, *, activation):
    return ACTIVATIONS[activation](x)


def layer_norm(x, gain, bias, *, epsilon=1e-5):
    centred = x - x.mean(-1, keepdim=True)
    variance = (centred**2).mean(-1, keepdim=True)  # biased, as in the paper of Ba and others
    return centred / torch.sqrt(variance + epsilon) * gain + bias


def add(a, b):
    return a + b


def mul(a, b):
    return a * b


def scale(x, by=None, *, factor=1.0):
    return factor * x if by is None else factor * by * x


def mix(weights, *xs):
    return sum(weights[i] * x for i, x in enumerate(xs))


def constant(*, shape, value):
    return torch.full(shape, value, dtype=torch.float64)


def concat(*xs, axis):
    return torch.cat(xs, dim=axis)


def slice_(x, *, axis, begin, end):
    return x.narrow(axis, begin, end - begin)


def dropout(x, rng=None, *, rate, stream=0, variational=False):
    if rate == 0:
        return 1 * x
    if variational:  # x: [B, T, D], one mask [B, D] for all positions
        B, _, D = x.shape
        return x * philox.mask(rng, B * D, rate, stream).reshape(B, 1, D)
    return x * philox.mask(rng, x.numel(), rate, stream).reshape(x.shape)


def dropout_mask(rng, *, shape, rate, stream=0):
    return philox.mask(rng, math.prod(shape), rate, stream).reshape(shape)


def gumbel_softmax(logits, temperature=None, rng=None, *, stream=0):
    noise = torch.zeros_like(logits) if rng is None else philox.gumbel(rng, logits.numel(), stream)
    return ((logits + noise) / (1 if temperature is None else temperature)).softmax(0)


def latency_loss(loss, times, *mixtures, form="power", alpha=0.2, beta=0.6):
    latency = times[0] + (torch.cat(mixtures) * times[1:]).sum()
    return loss * {"none": 1, "power": alpha * latency.log() ** beta, "log-power": alpha * (latency**beta).log()}[form]


def sinusoid(*, length, width, clamp=-1):
    # Rows from the farthest distance to 0; sines in the first half, cosines in the second.
    distance = torch.arange(length - 1, -1, -1, dtype=torch.float64)
    if clamp > 0:
        distance = distance.clamp(max=clamp)
    k = torch.arange(width // 2, dtype=torch.float64)
    angle = distance[:, None] * 10000 ** (-2 * k / width)
    return torch.cat([angle.sin(), angle.cos()], dim=-1)


OPS = {
    "linear": linear,
    "packed_linear": packed_linear,
    "packed_embedding": packed_embedding,
    "activation": activation,
    "layer_norm": layer_norm,
    "add": add,
    "mul": mul,
    "scale": scale,
    "mix": mix,
    "constant": constant,
    "concat": concat,
    "slice": slice_,
    "dropout": dropout,
    "dropout_mask": dropout_mask,
    "gumbel_softmax": gumbel_softmax,
    "latency_loss": latency_loss,
    "sinusoid": sinusoid,
}
