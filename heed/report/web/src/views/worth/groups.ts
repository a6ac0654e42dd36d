// Models of a sample by the kinds of blocks they have.

import type { WorthModel } from "../../document.ts";
import type { Group } from "../../learning_curves.tsx";
import { letter_place } from "../../letters.ts";

// "s, f, r" of "(sf)x3 (r)".
export function kinds_in(arch: string): string {
  const letters = new Set(arch.replace(/x\d+/g, "").match(/[a-z]/g) ?? []);
  return [...letters]
    .filter((letter) => letter_place(letter) >= 0)
    .sort((left, right) => letter_place(left) - letter_place(right))
    .join(", ");
}

// Those that occur, the fewest kinds first.
export function groups_of(models: Pick<WorthModel, "arch">[]): Group[] {
  const kinds = new Set(models.map((model) => kinds_in(model.arch)));
  const sorted = [...kinds].sort((left, right) => left.length - right.length || left.localeCompare(right, "en"));
  return sorted.map((title, place) => ({ title, place }));
}
