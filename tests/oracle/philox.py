"""Philox4x32-10 (Salmon and others, 2011) in plain integers, and the masks and noise made from it."""

import torch

WORD = 0xFFFFFFFF


def philox(counter, key):
    """Four random 32-bit words of a counter of four words and a key of two."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(10):
        first = 0xD2511F53 * c0
        second = 0xCD9E8D57 * c2
        c0, c1, c2, c3 = (second >> 32) ^ c1 ^ k0, second & WORD, (first >> 32) ^ c3 ^ k1, first & WORD
        k0 = (k0 + 0x9E3779B9) & WORD
        k1 = (k1 + 0xBB67AE85) & WORD
    return c0, c1, c2, c3


def check_known_answers():
    """The vectors published with the Random123 library."""
    known = [
        ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
        ((WORD,) * 4, (WORD,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
        ((0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0),
         (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1)),
    ]
    for counter, key, words in known:
        assert philox(counter, key) == words, f"philox{counter, key} is wrong"


def mask(rng, count, rate, stream):
    """Scaled dropout mask of elements 0 .. count-1: 0 or 1/(1-rate). rng: seed_lo, seed_hi, step_lo, step_hi.

    Element e takes word (e/16)%4 of counter (e/64)*16 + e%16: sixteen neighbours are one word of sixteen
    neighbouring counters.
    """
    seed_lo, seed_hi, step_lo, step_hi = (int(word) & WORD for word in rng)
    limit = int(rate * 2**32)
    blocks = {}

    def word(e):
        counter = (e // 64 * 16 + e % 16) & WORD
        if counter not in blocks:
            blocks[counter] = philox((counter, stream & WORD, step_lo, step_hi), (seed_lo, seed_hi))
        return blocks[counter][e // 16 % 4]

    kept = [1 / (1 - rate) if word(e) >= limit else 0.0 for e in range(count)]
    return torch.tensor(kept, dtype=torch.float64)


def gumbel(rng, count, stream):
    """Gumbel noise of elements 0 .. count-1: element e takes word e%4 of counter e/4."""
    seed_lo, seed_hi, step_lo, step_hi = (int(word) & WORD for word in rng)
    words = [philox((e // 4, stream & WORD, step_lo, step_hi), (seed_lo, seed_hi))[e % 4] for e in range(count)]
    uniform = torch.tensor([(word + 0.5) / 2**32 for word in words], dtype=torch.float64)
    return -(-uniform.log()).log()
