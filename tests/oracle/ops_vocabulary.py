"""Embeddings and softmax losses, whole and adaptive (Baevski and Auli 2019, Grave and others 2017)."""

import torch

import philox


def embedding(ids, table, positions=None, first=None, *, scale=1.0):
    y = scale * table[ids]
    if positions is not None:
        begin = 0 if first is None else int(first)
        y = y + positions[begin : begin + ids.shape[-1]]
    return y


def split(weights, cutoffs, single_table, projection_of):
    """Tables, projections, and the rng that may follow them."""
    tables = 1 if single_table else len(cutoffs)
    both = tables + (1 + max(projection_of) if projection_of else tables)
    return weights[:tables], weights[tables:both], weights[both] if len(weights) > both else None


def clusters(cutoffs, single_table, tables, projections, projection_of=()):
    """For each cluster its first id, its rows of the tables and its projection [d, e] (None: e = d)."""
    begin = 0
    for i, end in enumerate(cutoffs):
        table = 0 if single_table else i
        rows = tables[0][begin:end] if single_table else tables[i]
        yield begin, rows, projections[projection_of[i] if projection_of else table]
        begin = end


def dropped(hidden, at, rng, rate, stream):
    """Dropout of the rows `at` of hidden [N, e], whose elements are counted as if there were no other rows."""
    if rng is None or rate == 0:
        return hidden
    factors = torch.ones_like(hidden)
    factors[at] = philox.mask(rng, len(at) * hidden.shape[1], rate, stream).reshape(len(at), hidden.shape[1])
    return hidden * factors


def within(ids, begin, end):
    """Where the ids of a cluster stand."""
    return ((ids >= begin) & (ids < end)).nonzero()[:, 0]


def adaptive_embedding(ids, *weights, cutoffs, scale=1.0, single_table=False, dropout=0.0, stream=0):
    tables, projections, rng = split(weights, cutoffs, single_table, ())
    ends = cutoffs[-1:] if single_table else cutoffs  # one table, one lookup
    flat, y = ids.flatten(), 0
    for i, (begin, rows, projection) in enumerate(clusters(ends, single_table, tables, projections)):
        # Every id as if it were of this cluster, then 0 for those of others: wasteful and plain.
        at = within(flat, begin, ends[i])
        words = rows[(flat - begin).clamp(0, len(rows) - 1)]
        if projection is not None:
            words = dropped(words, at, rng, dropout, stream + i) @ projection.T
        mine = torch.zeros(len(flat), 1, dtype=words.dtype)
        mine[at] = 1
        y = y + mine * words
    return scale * y.reshape(*ids.shape, y.shape[-1])


def log_probabilities(x, w, bias=None):
    logits = x.reshape(-1, x.shape[-1]) @ w.T
    return torch.log_softmax(logits if bias is None else logits + bias, -1)


def losses_of(log_p, targets):
    """-log p of each target; 0 where the target is negative, which means: ignore this one."""
    targets = targets.flatten()
    picked = log_p.gather(-1, targets.clamp(min=0)[:, None])[:, 0]
    return torch.where(targets >= 0, -picked, torch.zeros_like(picked))


def softmax_loss(x, w, bias, targets, *, chunk_rows=0):  # rows at once: of no effect on the result
    return losses_of(log_probabilities(x, w, bias), targets)


def mean_loss(losses, targets):
    counted = targets.flatten() >= 0
    if not counted.any():
        return 0 * losses.sum().reshape(1)
    return losses[counted].mean().reshape(1)


def adaptive_log_probabilities(x, bias, cluster_weight, cluster_bias, *weights, cutoffs,
                               order="forward", single_table=False, projection_of=(), chunk_rows=0, drop=None):
    """log p(word) = log p_head(word) in the head, log p_head(its cluster) + log p_tail(word) in a tail.

    drop(i, hidden): dropout after the projection of cluster i.
    """
    x = x.reshape(-1, x.shape[-1])
    bias = torch.zeros(cutoffs[-1], dtype=x.dtype) if bias is None else bias
    cluster_bias = 0 if cluster_bias is None else cluster_bias
    tables, projections, _ = split(weights, cutoffs, single_table, projection_of)
    parts = []
    for i, (begin, rows, projection) in enumerate(clusters(cutoffs, single_table, tables, projections, projection_of)):
        hidden = x if projection is None else x @ projection
        hidden = drop(i, hidden) if drop and projection is not None else hidden
        logits = hidden @ rows.T + bias[begin : cutoffs[i]]
        if i == 0:
            if len(cutoffs) > 1:  # the head's rows are its words, then one per tail
                logits = torch.cat([logits, hidden @ cluster_weight.T + cluster_bias], -1)
            head = torch.log_softmax(logits, -1)
            parts.append(head[..., : cutoffs[0]])
        else:
            # "reverse": the first tail has the last column, as in the PyTorch code of Transformer-XL.
            column = cutoffs[0] + i - 1 if order == "forward" else cutoffs[0] + len(cutoffs) - 1 - i
            parts.append(head[..., column, None] + torch.log_softmax(logits, -1))
    return torch.cat(parts, -1)


def adaptive_softmax_loss(x, targets, bias, cluster_weight, cluster_bias, *weights, cutoffs, single_table=False,
                          projection_of=(), dropout=0.0, stream=0, **settings):
    tables, projections, rng = split(weights, cutoffs, single_table, projection_of)

    def drop(i, hidden):  # the head is for all rows that count, a tail for those whose target it holds
        begin, end = (0, cutoffs[-1]) if i == 0 else (cutoffs[i - 1], cutoffs[i])
        return dropped(hidden, within(targets.flatten(), begin, end), rng, dropout, stream + i)

    log_p = adaptive_log_probabilities(x, bias, cluster_weight, cluster_bias, *tables, *projections,
                                       cutoffs=cutoffs, single_table=single_table, projection_of=projection_of,
                                       drop=drop, **settings)
    return losses_of(log_p, targets)


OPS = {
    "embedding": embedding,
    "adaptive_embedding": adaptive_embedding,
    "log_probabilities": log_probabilities,
    "softmax_loss": softmax_loss,
    "mean_loss": mean_loss,
    "adaptive_log_probabilities": adaptive_log_probabilities,
    "adaptive_softmax_loss": adaptive_softmax_loss,
}
