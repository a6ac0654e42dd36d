"""The simple recurrent unit (Lei and others 2018), step by step."""

import torch

from ops_elementwise import ACTIVATIONS


def walk(slots, skip, v, bias, c, mask, padding, g, times):
    """One direction. slots: candidate, forget, reset, each [B, T, d]; skip [B, T, d]; v, bias: forget, reset."""
    candidate, forget, reset = slots
    h, cells = [None] * len(times), [None] * len(times)
    for t in times:
        f = torch.sigmoid(forget[:, t] + v[0] * c + bias[0])
        r = torch.sigmoid(reset[:, t] + v[1] * c + bias[1])  # both gates read the cell before this step
        next_c = f * c + (1 - f) * candidate[:, t]
        next_h = skip[:, t] + (g(next_c) - skip[:, t]) * mask * r
        if padding is not None:  # a padded step keeps the cell and gives 0
            real = (padding[:, t] == 0)[:, None]
            next_c = torch.where(real, next_c, c)
            next_h = torch.where(real, next_h, torch.zeros_like(next_h))
        c = next_c
        h[t], cells[t] = next_h, next_c
    return h, cells, c


def sru(u, x, v, bias, c0=None, mask=None, padding=None, *, slots=3, skip=True, rescale=1.0,
        activation="none", bidirectional=False, keep_states=False):
    B, T = u.shape[:2]
    D = u.shape[2] // slots
    planes = u.split(D, dim=-1)  # candidate, forget, reset, and the projected skip where there are four
    if not skip:
        highway = torch.zeros(B, T, D, dtype=u.dtype)
    elif slots == 4:
        highway = planes[3]
    else:
        highway = rescale * x
    c0 = torch.zeros(B, D, dtype=u.dtype) if c0 is None else c0
    mask = torch.ones(B, D, dtype=u.dtype) if mask is None else mask
    v_forget, v_reset = v.split(D)
    b_forget, b_reset = bias.split(D)

    # Bidirectional: the first half of the width walks forwards, the second backwards.
    half = D // 2 if bidirectional else D
    directions = [(slice(0, half), range(T))]
    if bidirectional:
        directions.append((slice(half, D), range(T - 1, -1, -1)))
    h, cells, last = [], [], []
    for part, times in directions:
        part_h, part_cells, part_last = walk(
            [plane[:, :, part] for plane in planes[:3]], highway[:, :, part],
            (v_forget[part], v_reset[part]), (b_forget[part], b_reset[part]), c0[:, part], mask[:, part],
            padding, ACTIVATIONS[activation], times)
        h.append(torch.stack(part_h, 1) if T else torch.zeros(B, 0, half, dtype=u.dtype))
        cells.append(torch.stack(part_cells, 1) if T else torch.zeros(B, 0, half, dtype=u.dtype))
        last.append(part_last)
    outputs = [torch.cat(h, -1), torch.cat(last, -1)]
    return outputs + [torch.cat(cells, -1)] if keep_states else outputs


OPS = {"sru": sru}
