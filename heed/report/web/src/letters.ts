// The meaning of the letters of an architecture string: the table that heed writes into its document.

import type { Block, Letter } from "./document.ts";

let table: Letter[] = [];

export function use_letters(letters: Letter[]): void {
  table = letters;
}

export function letter_meaning(letter: string): string {
  return table.find((row) => row.letter === letter)?.name ?? "a block of another kind";
}

// Its index among the letters that compute something; -1 for the others.
export function letter_place(letter: string): number {
  return table.filter((row) => !row.identity).findIndex((row) => row.letter === letter);
}

// Names of the sizes that blocks of a letter have, in the order of the table.
export function size_names(letter: string): string[] {
  return table.find((row) => row.letter === letter)?.sizes.map((size) => size.name) ?? [];
}

export function size_title(name: string): string {
  return table.flatMap((row) => row.sizes).find((size) => size.name === name)?.title ?? name;
}

// ["heads 8"]
export function sizes_text(block: Pick<Block, "letter" | "sizes">): string[] {
  return size_names(block.letter).flatMap((name) => (name in block.sizes ? [`${size_title(name)} ${block.sizes[name]}`] : []));
}
