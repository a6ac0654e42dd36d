"""Transformer-XL and PAR, Base size on WikiText-103, computed as the authors' public code does: q, k, v and r of the whole memory
anew in every segment, positions shifted as a tensor, the adaptive softmax cluster by cluster. Prints one JSON line.

usage: transformer_xl.py forward|train ARCH BATCH LENGTH MEMORY SECONDS [DROPOUT]        ARCH: ssff...
"""
import math
import sys

import torch
import torch.nn.functional as F
from torch import nn

import timing

WIDTH, HEADS, HEAD_WIDTH, INNER, VOCABULARY = 512, 8, 64, 2048, 267735
CUTOFFS = [0, 19997, 39997, 199997, VOCABULARY]
TAIL_SHARES = [0.026, 0.028, 0.0024]  # of the tokens of WikiText-103, by a power law


class Attention(nn.Module):
    """Tensors are [positions, batch, width]; after the norm, as the authors' default."""

    def __init__(self, u, w, rate):
        super().__init__()
        self.u, self.w, self.rate = u, w, rate
        self.qkv = nn.Linear(WIDTH, 3 * HEADS * HEAD_WIDTH, bias=False)
        self.r = nn.Linear(WIDTH, HEADS * HEAD_WIDTH, bias=False)
        self.out = nn.Linear(HEADS * HEAD_WIDTH, WIDTH, bias=False)
        self.norm = nn.LayerNorm(WIDTH)

    def forward(self, x, memory, positions, mask):
        length, batch, _ = x.shape
        q, k, v = self.qkv(torch.cat([memory, x])).chunk(3, -1)
        keys = k.shape[0]
        q, k, v = (y.view(-1, batch, HEADS, HEAD_WIDTH) for y in (q[-length:], k, v))
        r = self.r(positions).view(keys, HEADS, HEAD_WIDTH)
        content = torch.einsum("ibnd,jbnd->bnij", q + self.u, k)
        position = torch.einsum("ibnd,jnd->bnij", q + self.w, r)
        # Row i must move by length-1-i: one more column, and the same numbers read with rows of another length.
        padded = torch.cat([position.new_zeros(batch, HEADS, length, 1), position], -1)
        shifted = padded.view(batch, HEADS, keys + 1, length)[:, :, 1:].reshape(batch, HEADS, length, keys)
        scores = (content + shifted).mul_(1 / math.sqrt(HEAD_WIDTH)).masked_fill_(mask, -math.inf)
        mixed = torch.einsum("bnij,jbnd->ibnd", scores.softmax(-1), v).reshape(length, batch, -1)
        return self.norm(x + F.dropout(self.out(mixed), self.rate))


class FeedForward(nn.Module):
    def __init__(self, rate):
        super().__init__()
        self.up, self.down, self.norm, self.rate = nn.Linear(WIDTH, INNER), nn.Linear(INNER, WIDTH), nn.LayerNorm(WIDTH), rate

    def forward(self, x):
        hidden = F.dropout(F.relu(self.up(x)), self.rate)
        return self.norm(x + F.dropout(self.down(hidden), self.rate))


class AdaptiveSoftmax(nn.Module):
    def __init__(self):
        super().__init__()
        self.cluster_weight = nn.Parameter(0.02 * torch.randn(len(CUTOFFS) - 2, WIDTH))
        self.cluster_bias = nn.Parameter(torch.zeros(len(CUTOFFS) - 2))
        self.bias = nn.Parameter(torch.zeros(VOCABULARY))

    def forward(self, hidden, targets, table):
        head_weight = torch.cat([table[:CUTOFFS[1]], self.cluster_weight])
        head_bias = torch.cat([self.bias[:CUTOFFS[1]], self.cluster_bias])
        head = F.log_softmax(F.linear(hidden, head_weight, head_bias), -1)
        losses = torch.zeros_like(targets, dtype=hidden.dtype)
        for i, (begin, end) in enumerate(zip(CUTOFFS, CUTOFFS[1:])):
            rows = ((targets >= begin) & (targets < end)).nonzero().squeeze(1)
            if rows.numel() == 0:
                continue
            words = (targets.index_select(0, rows) - begin)[:, None]
            head_rows = head.index_select(0, rows)
            if i == 0:
                log_p = head_rows.gather(1, words).squeeze(1)
            else:
                logits = F.linear(hidden.index_select(0, rows), table[begin:end], self.bias[begin:end])
                log_p = head_rows[:, -i] + F.log_softmax(logits, -1).gather(1, words).squeeze(1)
            losses.index_copy_(0, rows, -log_p)
        return losses


class TransformerXl(nn.Module):
    def __init__(self, letters, rate=0.0):
        super().__init__()
        self.letters, self.rate = letters, rate
        self.table = nn.Embedding(VOCABULARY, WIDTH)
        nn.init.normal_(self.table.weight, std=0.02)
        self.u, self.w = (nn.Parameter(0.02 * torch.randn(HEADS, HEAD_WIDTH)) for _ in range(2))
        self.blocks = nn.ModuleList(Attention(self.u, self.w, rate) if letter == "s" else FeedForward(rate) for letter in letters)
        self.softmax = AdaptiveSoftmax()

    def positions(self, keys):
        frequencies = 10000 ** (-torch.arange(0, WIDTH, 2) / WIDTH)
        angles = torch.arange(keys - 1, -1, -1.0)[:, None] * frequencies
        return F.dropout(torch.cat([angles.sin(), angles.cos()], -1).to(self.u.dtype), self.rate)

    def forward(self, tokens, targets, memory):
        """tokens, targets: [T, B]; memory: [M, B, D] for each s. Loss of each token, and the memory of the next segment."""
        length, kept = tokens.shape[0], memory[0].shape[0] if memory else 0
        x = F.dropout(self.table(tokens) * math.sqrt(WIDTH), self.rate)
        positions = self.positions(kept + length)
        mask = torch.ones(length, kept + length, dtype=torch.bool).triu(kept + 1)
        older, newer = iter(memory), []
        for letter, block in zip(self.letters, self.blocks):
            if letter == "s":
                rows = next(older)
                with torch.no_grad():
                    newer.append(torch.cat([rows, x])[-kept:].detach())
                x = block(x, rows, positions, mask)
            else:
                x = block(x)
        x = F.dropout(x, self.rate)
        return self.softmax(x.flatten(0, 1), targets.flatten(), self.table.weight), newer


def draw(count):
    """As many of each cluster as text has, to the nearest; within a cluster the k-th word has probability in proportion to 1/k."""
    tails = [round(share * count) for share in TAIL_SHARES]
    words = []
    for size, begin, end in zip([count - sum(tails), *tails], CUTOFFS, CUTOFFS[1:]):
        if size > 0:
            words.append(begin + torch.multinomial(1 / torch.arange(begin + 1.0, end + 1.0), size, replacement=True))
    return torch.cat(words)[torch.randperm(count)]


def main():
    mode, letters = sys.argv[1:3]
    batch, length, kept = map(int, sys.argv[3:6])
    seconds, rate = float(sys.argv[6]), float(sys.argv[7]) if len(sys.argv) > 7 else 0.0
    torch.manual_seed(1)
    model = TransformerXl(letters, rate if mode == "train" else 0.0)
    tokens, targets = (draw(length * batch).view(length, batch) for _ in range(2))
    memory = [torch.randn(kept, batch, WIDTH) for letter in letters if letter == "s"]
    optimizer = torch.optim.Adam(model.parameters(), lr=2.5e-4, foreach=True)

    def forward():
        nonlocal memory
        with torch.no_grad():
            _, memory = model(tokens, targets, memory)

    def train():
        nonlocal memory
        optimizer.zero_grad(set_to_none=True)
        losses, memory = model(tokens, targets, memory)
        losses.mean().backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        optimizer.step()

    timing.report({"forward": forward, "train": train}[mode], seconds, parameters=sum(p.numel() for p in model.parameters()))


if __name__ == "__main__":
    main()
