"""Embeddings and softmax losses, whole and adaptive (Baevski and Auli 2019, Grave and others 2017)."""

import torch


def embedding(ids, table, positions=None, first=None, *, scale=1.0):
    y = scale * table[ids]
    if positions is not None:
        begin = 0 if first is None else int(first)
        y = y + positions[begin : begin + ids.shape[-1]]
    return y


def clusters(cutoffs, single_table, tables_and_projections):
    """For each cluster its first id, its rows of the tables and its projection [d, e] (None: e = d)."""
    count = 1 if single_table else len(cutoffs)
    tables, projections = tables_and_projections[:count], tables_and_projections[count:]
    begin = 0
    for i, end in enumerate(cutoffs):
        rows = tables[0][begin:end] if single_table else tables[i]
        yield begin, rows, projections[0 if single_table else i]
        begin = end


def adaptive_embedding(ids, *tables_and_projections, cutoffs, scale=1.0, single_table=False):
    # Every word's vector, then the lookup: wasteful and plain.
    words = []
    for _, rows, projection in clusters(cutoffs, single_table, tables_and_projections):
        words.append(rows if projection is None else rows @ projection.T)
    return scale * torch.cat(words)[ids]


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


def adaptive_log_probabilities(x, bias, cluster_weight, cluster_bias, *tables_and_projections, cutoffs,
                               order="forward", single_table=False, chunk_rows=0):
    """log p(word) = log p_head(word) in the head, log p_head(its cluster) + log p_tail(word) in a tail."""
    x = x.reshape(-1, x.shape[-1])
    bias = torch.zeros(cutoffs[-1], dtype=x.dtype) if bias is None else bias
    cluster_bias = 0 if cluster_bias is None else cluster_bias
    parts = []
    for i, (begin, rows, projection) in enumerate(clusters(cutoffs, single_table, tables_and_projections)):
        hidden = x if projection is None else x @ projection
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


def adaptive_softmax_loss(x, targets, *weights, **settings):
    return losses_of(adaptive_log_probabilities(x, *weights, **settings), targets)


OPS = {
    "embedding": embedding,
    "adaptive_embedding": adaptive_embedding,
    "log_probabilities": log_probabilities,
    "softmax_loss": softmax_loss,
    "mean_loss": mean_loss,
    "adaptive_log_probabilities": adaptive_log_probabilities,
    "adaptive_softmax_loss": adaptive_softmax_loss,
}
