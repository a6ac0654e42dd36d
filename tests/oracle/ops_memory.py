"""What is carried from run to run: segments of memory, caches. None of it has gradients."""

import torch


def index_of(slot):
    return 0 if slot is None else int(slot)


def recall(state, slot=None, *, flat=False):
    rows = state[index_of(slot)].clone()
    return rows[:, 0] if flat else rows


def remember(state, x, slot=None):
    chunks = state.clone()
    view = chunks if chunks.dim() == 4 else chunks.reshape(1, state.shape[0], -1, state.shape[-1])
    rows = x if x.dim() == 3 else x[:, None]
    M = view.shape[2]
    view[index_of(slot)] = torch.cat([view[index_of(slot)], rows], dim=1)[:, -M:]
    return view.reshape(state.shape)


def append(cache, x, position, *, first_column=0):
    after = cache.clone()
    begin, T, W = int(position), x.shape[1], cache.shape[2]
    after[:, begin : begin + T] = x[:, :, first_column : first_column + W]
    return after


def take_row(x, index):
    return x[:, int(index)][:, None]


def accumulate(sum, x, chunk, *, factor=1.0):
    return factor * x if int(chunk) == 0 else sum + factor * x


OPS = {"accumulate": accumulate, "recall": recall, "remember": remember, "append": append, "take_row": take_row}
