// What one more block gains for what it costs.

import type { Rates } from "./document.ts";
import { sizes_text } from "./letters.ts";

export type RatedBlock = Rates["blocks"][number];
export type Cost = "ms" | "parameters";

export function block_title(block: RatedBlock): string {
  return [block.letter, ...sizes_text(block)].join(", ");
}

// Bits for one unit of the cost: a millisecond, or a million parameters. NaN if the cost is unknown.
export function rate_of(block: RatedBlock, cost: Cost): number {
  const units = cost === "ms" ? block.ms : block.parameters / 1e6;
  return units === null || units <= 0 ? NaN : block.bits / units;
}

// The highest rate first; blocks of unknown cost last, by what they gain.
export function by_rate(blocks: RatedBlock[], cost: Cost): RatedBlock[] {
  const key = (block: RatedBlock) => rate_of(block, cost);
  return blocks.slice().sort((left, right) => {
    const [one, other] = [key(left), key(right)];
    if (Number.isNaN(one) || Number.isNaN(other)) return Number(Number.isNaN(one)) - Number(Number.isNaN(other)) || right.bits - left.bits;
    return other - one;
  });
}
