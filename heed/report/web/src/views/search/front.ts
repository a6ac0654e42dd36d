// The frontier in two quantities: rows that no other row beats in one without being worse in the other.

export type Better = "more" | "less";

// `x` is always a cost: less is better. In order of x, each row with a y that is better than all before.
export function front_of(rows: Int32Array, x: Float64Array, y: Float64Array, better: Better): number[] {
  const sign = better === "more" ? -1 : 1;
  const usable = rows.filter((row) => Number.isFinite(x[row]) && Number.isFinite(y[row]));
  usable.sort((left, right) => x[left]! - x[right]! || sign * (y[left]! - y[right]!));
  const front: number[] = [];
  let best = Infinity;
  for (const row of usable) {
    const value = sign * y[row]!;
    if (value < best) {
      front.push(row);
      best = value;
    }
  }
  return front;
}

export function median(values: number[]): number {
  const sorted = values.filter(Number.isFinite).sort((left, right) => left - right);
  const middle = sorted.length >> 1;
  if (sorted.length === 0) return NaN;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
