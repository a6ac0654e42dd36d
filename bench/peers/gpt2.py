"""GPT-2 in plain PyTorch: the yardstick of scripts/bench-peers. Prints one JSON line.

usage: gpt2.py forward|train BATCH LENGTH SECONDS
"""
import math
import sys

import torch
import torch.nn.functional as F
from torch import nn

import timing

LAYERS, WIDTH, HEADS, INNER, VOCABULARY, CONTEXT = 12, 768, 12, 3072, 50257, 1024


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, INNER), nn.Linear(INNER, WIDTH)

    def forward(self, x, mask):
        batch, length, _ = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(batch, length, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-1, -2) / math.sqrt(WIDTH // HEADS) + mask
        mixed = (scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, length, WIDTH)
        x = x + self.out(mixed)
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


class Gpt2(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm = nn.LayerNorm(WIDTH)
        nn.init.normal_(self.tokens.weight, std=0.02)

    def forward(self, ids):
        length = ids.shape[1]
        x = self.tokens(ids) + self.positions(torch.arange(length))
        mask = torch.full((length, length), float("-inf")).triu(1)
        for block in self.blocks:
            x = block(x, mask)
        return F.linear(self.norm(x), self.tokens.weight)


def main():
    mode, batch, length, seconds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
    torch.manual_seed(1)
    model = Gpt2()
    ids = torch.randint(0, VOCABULARY, (batch, length))
    targets = torch.randint(0, VOCABULARY, (batch, length))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, foreach=True)

    def forward():
        with torch.no_grad():
            model(ids)

    def train():
        optimizer.zero_grad(set_to_none=True)
        F.cross_entropy(model(ids).view(-1, VOCABULARY), targets.view(-1)).backward()
        optimizer.step()

    timing.report({"forward": forward, "train": train}[mode], seconds)


main()
