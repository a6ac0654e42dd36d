"""SRU++ (Lei 2021), 10 attending layers on bytes, computed as the authors' public code does on a CPU: keys and values of the memory
anew in every segment; the recurrence as small tensor operations step by step where gradients are wanted, else as a scalar C++ loop
(when there is a compiler). Prints one JSON line.

usage: srupp.py forward|train WIDTH PROJECTION BATCH LENGTH MEMORY SECONDS [DROPOUT]
"""
import ctypes
import os
import shutil
import subprocess
import sys
import tempfile

import torch
import torch.nn.functional as F
from torch import nn

import timing

LAYERS, VOCABULARY, HIGHWAY_BIAS = 10, 205, -2.0

KERNEL = r"""
#include <cmath>
static float sigmoid(float x) { return 1.f / (1.f + expf(-x)); }
// u: [steps, batch, width, 3], the three slots of a unit side by side
extern "C" void recur(const float* u, const float* x, const float* v, const float* bias, const float* c0, float* h, float* c_last,
                      long steps, long batch, long width) {
  for (long i = 0; i < batch * width; ++i) c_last[i] = c0[i];
  for (long t = 0; t < steps; ++t)
    for (long b = 0; b < batch; ++b)
      for (long j = 0; j < width; ++j) {
        const long at = (t * batch + b) * width + j;
        const float* slots = u + 3 * at;
        float& c = c_last[b * width + j];
        const float forget = sigmoid(slots[1] + v[j] * c + bias[j]);
        const float reset = sigmoid(slots[2] + v[width + j] * c + bias[width + j]);
        c = slots[0] + (c - slots[0]) * forget;
        h[at] = x[at] + (c - x[at]) * reset;
      }
}
"""


def compiled():
    """The kernel with the authors' flags, or None without a compiler."""
    compiler = shutil.which("c++")
    if not compiler:
        return None
    with tempfile.TemporaryDirectory() as folder:
        source, library = os.path.join(folder, "recur.cpp"), os.path.join(folder, "recur.so")
        with open(source, "w") as file:
            file.write(KERNEL)
        subprocess.run([compiler, "-O3", "-shared", "-fPIC", source, "-o", library], check=True)
        return ctypes.CDLL(library).recur


def recur_compiled(kernel, u, x, v, bias, c):
    steps, batch, width = x.shape
    u, x, c = u.contiguous(), x.contiguous(), c.contiguous()
    h, c_last = torch.empty_like(x), torch.empty_like(c)
    pointers = (ctypes.c_void_p(tensor.data_ptr()) for tensor in (u, x, v, bias, c, h, c_last))
    kernel(*pointers, *(ctypes.c_long(size) for size in (steps, batch, width)))
    return h, c_last


def recur_stepwise(u, x, v, bias, c, mask):
    steps, batch, width = x.shape
    # Taken apart once: indexing a step inside the loop would make the backward pass fill a whole tensor for every step.
    candidate, forget, reset = (slot.unbind() for slot in u.view(steps, batch, width, 3).unbind(-1))
    v_forget, v_reset = v.split(width)
    b_forget, b_reset = bias.split(width)
    outputs = []
    for x_t, candidate_t, forget_t, reset_t in zip(x.unbind(), candidate, forget, reset):
        f = torch.sigmoid(forget_t + c * v_forget + b_forget)
        r = torch.sigmoid(reset_t + c * v_reset + b_reset)
        c = candidate_t + (c - candidate_t) * f
        difference = c - x_t
        outputs.append(x_t + (difference if mask is None else difference * mask) * r)
    return torch.stack(outputs), c


class Layer(nn.Module):
    """Tensors are [positions, batch, width]."""

    def __init__(self, width, projection, rate):
        super().__init__()
        self.rate = rate
        self.down = nn.Linear(width, projection, bias=False)
        self.kv = nn.Linear(projection, 2 * projection, bias=False)
        self.up = nn.Linear(projection, 3 * width, bias=False)
        self.norm, self.alpha = nn.LayerNorm(projection), nn.Parameter(torch.ones(1))  # a scale of 0 would hide attention's work
        self.v = nn.Parameter(torch.rand(2 * width) * 2 - 1)
        self.bias = nn.Parameter(torch.cat([torch.zeros(width), torch.full((width,), HIGHWAY_BIAS)]))

    def slots(self, x, memory, mask):
        z = self.down(torch.cat([memory, x]))
        k, v = (y.transpose(0, 1) for y in self.kv(z).chunk(2, -1))
        q = z[-x.shape[0]:]
        scaled = q.transpose(0, 1) * (q.shape[-1] ** -0.5)
        weights = F.dropout(torch.baddbmm(mask[None], scaled, k.transpose(1, 2)).softmax(-1), self.rate)
        mixed = torch.bmm(weights, v).transpose(0, 1)
        return self.up(F.dropout(self.norm(q + mixed * self.alpha), self.rate))

    def forward(self, x, memory, cell, mask, kernel):
        u = self.slots(x, memory, mask)
        if kernel and not torch.is_grad_enabled():
            return recur_compiled(kernel, u, x, self.v, self.bias, cell)
        kept = F.dropout(torch.ones_like(cell), self.rate) if self.rate > 0 else None
        return recur_stepwise(u, x, self.v, self.bias, cell, kept)


class SruPlusPlus(nn.Module):
    def __init__(self, width, projection, rate=0.0):
        super().__init__()
        self.rate = rate
        self.embedding, self.output = nn.Embedding(VOCABULARY, width), nn.Linear(width, VOCABULARY)
        nn.init.uniform_(self.embedding.weight, -((3 / width) ** 0.5), (3 / width) ** 0.5)
        self.layers = nn.ModuleList(Layer(width, projection, rate) for _ in range(LAYERS))

    def forward(self, tokens, memory, cells, kernel=None):
        """tokens: [T, B]; memory: [M, B, width] and cells: [B, width] for each layer. Logits, and the state of the next segment."""
        length, kept = tokens.shape[0], memory[0].shape[0]
        x = F.dropout(self.embedding(tokens), self.rate)
        mask = torch.full((length, kept + length), -10000.0, dtype=x.dtype).triu(kept + 1)
        new_memory, new_cells = [], []
        for layer, rows, cell in zip(self.layers, memory, cells):
            new_memory.append(x.detach())  # the previous segment, whole
            x, cell = layer(x, rows, cell, mask, kernel)
            new_cells.append(cell.detach())
        return self.output(F.dropout(x, self.rate)), new_memory, new_cells


def main():
    mode = sys.argv[1]
    width, projection, batch, length, kept = map(int, sys.argv[2:7])
    seconds, rate = float(sys.argv[7]), float(sys.argv[8]) if len(sys.argv) > 8 else 0.0
    if kept != length:
        sys.exit(f"memory is the previous segment: {kept} rows are not {length}")
    torch.manual_seed(1)
    model = SruPlusPlus(width, projection, rate if mode == "train" else 0.0)
    kernel = compiled() if mode == "forward" else None
    tokens, targets = (torch.randint(0, VOCABULARY, (length, batch)) for _ in range(2))
    memory, cells = ([torch.randn(*shape) for _ in range(LAYERS)] for shape in ((kept, batch, width), (batch, width)))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-4, foreach=True)

    def forward():
        nonlocal memory, cells
        with torch.no_grad():
            _, memory, cells = model(tokens, memory, cells, kernel)

    def train():
        nonlocal memory, cells
        optimizer.zero_grad(set_to_none=True)
        logits, memory, cells = model(tokens, memory, cells)
        F.cross_entropy(logits.view(-1, VOCABULARY), targets.flatten()).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

    timing.report({"forward": forward, "train": train}[mode], seconds, recurrence="compiled" if kernel else "stepwise",
                  parameters=sum(p.numel() for p in model.parameters()))


if __name__ == "__main__":
    main()
