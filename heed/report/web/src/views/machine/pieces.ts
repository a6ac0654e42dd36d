// Pieces of a device's profile, sorted into tables: one for each backbone, length and letter, at a prompt or at a step.

import type { DeviceProfile } from "../../document.ts";
import { size_names } from "../../letters.ts";

export type Piece = DeviceProfile["pieces"][number];

export type Measure = "ms" | "share" | "spread";

export interface Grouped {
  backbone: string;
  length: number;
  step: boolean;
  letter: string;
  size: string | null; // what its rows differ in
  pieces: Piece[];
}

export function grouped(pieces: Piece[]): Grouped[] {
  const groups = new Map<string, Grouped>();
  for (const piece of pieces) {
    if (piece.what !== "block") continue;
    const name = JSON.stringify([piece.backbone, piece.length, piece.step, piece.letter]);
    const group = groups.get(name) ?? { backbone: piece.backbone, length: piece.length, step: piece.step, letter: piece.letter, size: null, pieces: [] };
    group.pieces.push(piece);
    groups.set(name, group);
  }
  for (const group of groups.values()) {
    const names = size_names(group.letter);
    const varies = (size: string) => new Set(group.pieces.map((piece) => piece.sizes[size])).size > 1;
    group.size = names.find(varies) ?? names[0] ?? null;
  }
  return [...groups.values()];
}

// What a piece is timed at.
export function timed_at({ length, step }: { length: number; step: boolean }): string {
  return step ? `one token after ${length}` : `${length} tokens`;
}

// null if it is unknown.
export function measure_of(piece: Piece, measure: Measure, peak_gflops: number | null): number | null {
  if (measure === "ms") return piece.ms;
  if (!(piece.ms > 0)) return null;
  if (measure === "spread") return (piece.high_ms - piece.low_ms) / piece.ms;
  return peak_gflops ? piece.gflop / (piece.ms / 1000) / peak_gflops : null;
}

function ascending(values: Iterable<number>): number[] {
  return [...new Set(values)].sort((left, right) => left - right);
}

export interface Cells {
  widths: number[];
  sizes: number[];
  // [index of width, index of size, value, index of piece]; of several pieces in a cell the last one measured
  cells: [number, number, number, number][];
}

export function cells_of(group: Grouped, measure: Measure, peak_gflops: number | null): Cells {
  const size_of = (piece: Piece) => (group.size === null ? 0 : (piece.sizes[group.size] ?? 0));
  const widths = ascending(group.pieces.map((piece) => piece.width));
  const sizes = ascending(group.pieces.map(size_of));
  const cells = new Map<string, [number, number, number, number]>();
  group.pieces.forEach((piece, place) => {
    const value = measure_of(piece, measure, peak_gflops);
    if (value === null || !Number.isFinite(value)) return;
    const at = [widths.indexOf(piece.width), sizes.indexOf(size_of(piece))] as const;
    cells.set(at.join(), [...at, value, place]);
  });
  return { widths, sizes, cells: [...cells.values()] };
}
