"""Optimizer steps. Each returns the new w, m and v."""

import math

import torch


def clipped(g, clip):
    return g if clip is None else g * clip


def moments(g, m, v, beta1, beta2):
    return beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g**2


def adam(w, g, m, v, learning_rate, step, clip=None, *, beta1=0.9, beta2=0.999, epsilon=1e-8,
         weight_decay=0.0, decoupled=False, bias_correction=True):
    g = clipped(g, clip)
    if not bias_correction:  # BERT's fine-tuning; torch.optim has no such switch
        if not decoupled:
            g = g + weight_decay * w
        m, v = moments(g, m, v, beta1, beta2)
        if decoupled:
            w = w - learning_rate * weight_decay * w
        return w - learning_rate * m / (v.sqrt() + epsilon), m, v
    w = w.detach().clone().requires_grad_()
    w.grad = g
    optimizer = (torch.optim.AdamW if decoupled else torch.optim.Adam)(
        [w], lr=float(learning_rate), betas=(beta1, beta2), eps=epsilon, weight_decay=weight_decay)
    state = {"step": torch.tensor(float(step) - 1), "exp_avg": m.clone(), "exp_avg_sq": v.clone()}
    optimizer.state[w] = state
    optimizer.step()
    return w.detach(), state["exp_avg"], state["exp_avg_sq"]


def radam(w, g, m, v, learning_rate, step, clip=None, *, beta1=0.9, beta2=0.999, epsilon=1e-8,
          weight_decay=0.0, early="momentum"):
    # The decay is decoupled, so torch.optim.RAdam is no judge of it.
    m, v = moments(clipped(g, clip), m, v, beta1, beta2)
    t = int(step)
    rho_infinite = 2 / (1 - beta2) - 1
    rho = rho_infinite - 2 * t * beta2**t / (1 - beta2**t)
    if rho >= 5:
        rectified = math.sqrt((rho - 4) * (rho - 2) * rho_infinite
                              / ((rho_infinite - 4) * (rho_infinite - 2) * rho))
        rate = learning_rate * rectified * math.sqrt(1 - beta2**t) / (1 - beta1**t)
        w = w * (1 - learning_rate * weight_decay) - rate * m / (v.sqrt() + epsilon)
    elif early == "momentum":
        w = w * (1 - learning_rate * weight_decay) - learning_rate / (1 - beta1**t) * m
    return w, m, v


def lamb(w, g, m, v, learning_rate, step, clip=None, *, beta1=0.9, beta2=0.999, epsilon=1e-6,
         weight_decay=0.0, bias_correction=False, norm_limit=10.0, epsilon_in_ratio=True, ratio=True):
    # As in NVIDIA's Transformer-XL.
    m, v = moments(clipped(g, clip), m, v, beta1, beta2)
    first, second = m, v
    if bias_correction:
        first, second = m / (1 - beta1 ** int(step)), v / (1 - beta2 ** int(step))
    direction = first / (second.sqrt() + epsilon) + weight_decay * w
    weight_norm, direction_norm = float(w.norm()), float(direction.norm())
    factor = 1.0
    if ratio and weight_norm > 0 and direction_norm > 0:
        limited = min(weight_norm, norm_limit) if norm_limit > 0 else weight_norm
        factor = limited / (direction_norm + (epsilon if epsilon_in_ratio else 0))
    return w - learning_rate * factor * direction, m, v


def nvlamb(*inputs, **settings):
    # As in NVIDIA's BERT: no limit on the weights' norm, bias correction, decay 0.01.
    defaults = {"weight_decay": 0.01, "bias_correction": True, "norm_limit": 0.0, "epsilon_in_ratio": False}
    return lamb(*inputs, **{**defaults, **settings})


def by_layer(step):
    """The step of several tensors, whose elements, one tensor after the other, are cut into layers: each layer is a tensor of its own."""

    def whole(*inputs, layer_ends=(), **settings):
        k = (len(inputs) - 2) // 4
        tensors = inputs[:k]
        all_of = [torch.cat([x.flatten() for x in inputs[k * i : k * i + k]]) for i in range(4)]  # w, g, m, v
        ends = layer_ends or [len(all_of[0])]
        layers = [step(*(x[begin:end] for x in all_of), *inputs[4 * k :], **settings) for begin, end in zip([0, *ends], ends)]
        cut = [torch.cat(parts).split([w.numel() for w in tensors]) for parts in zip(*layers)]
        return [x.reshape(w.shape) for xs in cut for x, w in zip(xs, tensors)]

    return whole


def sgd(w, g, m, learning_rate, step, clip=None, *, momentum=0.9, nesterov=False, weight_decay=0.0):
    weight = w.detach().clone()
    weight.grad = clipped(g, clip).detach()
    optimizer = torch.optim.SGD([weight], lr=float(learning_rate), momentum=momentum, nesterov=nesterov, weight_decay=weight_decay)
    optimizer.state[weight]["momentum_buffer"] = m.detach().clone()
    optimizer.step()
    return weight.detach(), optimizer.state[weight]["momentum_buffer"]


def global_norm(*gradients, limit=0.0, epsilon=1e-6):
    norm = math.sqrt(sum(float((g**2).sum()) for g in gradients))
    factor = min(1.0, limit / (norm + epsilon)) if limit > 0 else 1.0
    return torch.tensor([factor], dtype=torch.float64), torch.tensor([norm], dtype=torch.float64)


OPS = {"adam": adam, "radam": radam, "lamb": by_layer(lamb), "nvlamb": by_layer(nvlamb), "sgd": sgd, "global_norm": global_norm}
