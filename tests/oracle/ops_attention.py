"""Attention: causal or full, windowed, relative as in Transformer-XL, with memory, padding and dropout."""

import math

import torch

import philox

MASK_LENGTH = {  # the two conventions of "same_length"
    "nv": lambda keys, memory: keys - memory - 1,
    "orig": lambda keys, memory: keys - memory,
}


def visible_keys(T, K, p, first, mask, window, same_length, memory_length):
    """[T, K]: whether query i, which sits at key p + i, may look at key j."""
    i = torch.arange(T)[:, None]
    j = torch.arange(K)[None, :]
    seen = (j >= first) & (j < K) & (i >= 0)
    if mask == "causal":
        seen = seen & (j <= p + i)
    if window >= 0:
        seen = seen & (j >= p + i - window)
    if same_length != "none":
        mask_length = MASK_LENGTH[same_length](p + T - first, memory_length)
        shift = T - mask_length if mask_length > 0 else T
        seen = seen & ~(j - first <= i - shift)
    return seen


def dropout_mask(rng, B, H, T, K, rate, stream):
    """Element (b, h, i, j) is number ((b H + h) K + j) T' + i, T' = T rounded up to a multiple of 64."""
    padded = (T + 63) // 64 * 64
    by_key = philox.mask(rng, B * H * K * padded, rate, stream).reshape(B, H, K, padded)
    return by_key[..., :T].transpose(-1, -2)


def attention(q, k, v, padding=None, relative=None, u=None, v_bias=None, positions=None, rng=None, *,
              heads, head_width, mask="causal", window=-1, same_length="none", memory_length=0,
              q_offset=0, k_offset=0, v_offset=0, dropout=0.0, stream=0):
    B, T, K = q.shape[0], q.shape[1], k.shape[1]
    H, e = heads, head_width
    p, first = (K - T, 0) if positions is None else (int(n) for n in positions)

    def split(x, offset):  # [B, n, columns] -> [B, H, n, e]; heads are contiguous slices
        return x[:, :, offset : offset + H * e].reshape(B, -1, H, e).transpose(1, 2)

    def per_head(vector):  # [H*e] -> [H, 1, e]
        return 0 if vector is None else vector.reshape(H, 1, e)

    queries, keys, values = split(q, q_offset), split(k, k_offset), split(v, v_offset)
    seen = visible_keys(T, K, p, first, mask, window, same_length, memory_length).expand(B, 1, T, K)
    if padding is not None:
        seen = seen & (padding == 0).reshape(B, 1, 1, K)

    score = (queries + per_head(u)) @ keys.transpose(-1, -2)
    if relative is not None:
        # Row r of `relative` stands for distance R-1-r. The product with all rows, then for each pair the row
        # of its distance; pairs that are not visible may have no row, any will do.
        R = relative.shape[0]
        rows = relative.reshape(R, H, e).transpose(0, 1)  # [H, R, e]
        by_row = (queries + per_head(v_bias)) @ rows.transpose(-1, -2)  # [B, H, T, R]
        distance = p + torch.arange(T)[:, None] - torch.arange(K)[None, :]
        row = R - 1 - distance
        assert not (seen & ((row < 0) | (row >= R))).any(), "a visible pair has no relative row"
        score = score + by_row.gather(-1, row.clamp(0, max(R - 1, 0)).expand(B, H, T, K))
    score = score / math.sqrt(e)

    # A query that sees nothing gets 0. Its row keeps a finite score so that no NaN enters the gradients.
    sees_any = seen.any(-1, keepdim=True)
    score = score.masked_fill(sees_any & ~seen, -math.inf)
    probability = torch.softmax(score, -1) * seen
    if dropout > 0:
        probability = probability * dropout_mask(rng, B, H, T, K, dropout, stream)
    out = (probability @ values).transpose(1, 2).reshape(B, T, H * e)
    lse = torch.logsumexp(score.detach(), -1)
    lse = lse.masked_fill(~sees_any.squeeze(-1), math.nan)  # no promise without keys
    return out, lse


OPS = {"attention": attention}
