// Repetitions of a sequence: s f s f s f f is (s f) three times and f.

export interface Group<Item> {
  items: Item[];
  times: number;
  start: number; // index of its first item
}

// At each index the repetition that covers most; of equals, the shortest. Not always the shortest text, but what
// people write.
export function fold<Item>(sequence: readonly Item[]): Group<Item>[] {
  const groups: Group<Item>[] = [];
  let start = 0;
  while (start < sequence.length) {
    const best = longest_repetition(sequence, start);
    groups.push({ items: sequence.slice(start, start + best.period), times: best.times, start });
    start += best.period * best.times;
  }
  return groups;
}

function longest_repetition<Item>(sequence: readonly Item[], start: number): { period: number; times: number } {
  let best = { period: 1, times: 1 };
  let covered = 1;
  for (let period = 1; start + 2 * period <= sequence.length; period += 1) {
    let end = start + period;
    while (end < sequence.length && sequence[end] === sequence[end - period]) end += 1;
    const times = Math.floor((end - start) / period);
    if (times > 1 && times * period > covered) {
      best = { period, times };
      covered = times * period;
    }
  }
  return best;
}

// Which indices of two sequences belong to their longest common subsequence.
export function common<Item>(left: readonly Item[], right: readonly Item[]): { left: boolean[]; right: boolean[] } {
  const lengths = Array.from({ length: left.length + 1 }, () => new Array<number>(right.length + 1).fill(0));
  for (let i = left.length - 1; i >= 0; i -= 1) {
    for (let j = right.length - 1; j >= 0; j -= 1) {
      lengths[i]![j] = left[i] === right[j] ? lengths[i + 1]![j + 1]! + 1 : Math.max(lengths[i + 1]![j]!, lengths[i]![j + 1]!);
    }
  }
  const shared = { left: left.map(() => false), right: right.map(() => false) };
  let i = 0;
  let j = 0;
  while (i < left.length && j < right.length) {
    if (left[i] === right[j]) {
      shared.left[i] = true;
      shared.right[j] = true;
      i += 1;
      j += 1;
    } else if (lengths[i + 1]![j]! >= lengths[i]![j + 1]!) {
      i += 1;
    } else {
      j += 1;
    }
  }
  return shared;
}
