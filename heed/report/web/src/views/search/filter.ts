// Which rows are shown: limits, the box drawn in the chart, the words typed; and their order in the table.

import type { SearchRun } from "../../document.ts";
import { model_of, name_of, type Rows } from "./rows.ts";

export type Limited = "latency" | "memory" | "total" | "score";
export type Limits = Record<Limited, number | null>;

export function limits_of(run: SearchRun): Limits {
  return { latency: run.limits.latency_ms, memory: run.limits.memory, total: run.limits.parameters, score: null };
}

// 1 for each row that is within all limits: costs at most, and the score at least, or at most if it is a loss.
export function within(rows: Rows, limits: Limits): Uint8Array {
  const kept = new Uint8Array(rows.count).fill(1);
  const at_most = (values: Float64Array, limit: number | null) => {
    if (limit === null) return;
    for (let row = 0; row < rows.count; row += 1) if (values[row]! > limit) kept[row] = 0;
  };
  at_most(rows.known_latency, limits.latency);
  at_most(rows.memory, limits.memory);
  at_most(rows.total, limits.total);
  if (rows.merit.better === "less") at_most(rows.score, limits.score);
  else if (limits.score !== null) {
    for (let row = 0; row < rows.count; row += 1) if (rows.score[row]! < limits.score) kept[row] = 0;
  }
  return kept;
}

export function both(left: Uint8Array, right: Uint8Array | null): Uint8Array {
  return right ? left.map((value, row) => value & (right[row] ?? 0)) : left;
}

// Every word must occur.
export function matching(rows: Rows, kept: Uint8Array, words: string): Int32Array {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const texts = wanted.length > 0 ? rows.search_text() : [];
  const places: number[] = [];
  for (let row = 0; row < rows.count; row += 1) {
    if (kept[row] && wanted.every((word) => texts[row]!.includes(word))) places.push(row);
  }
  return Int32Array.from(places);
}

export type SortColumn = "name" | "score" | "latency" | "measured" | "memory" | "decoder" | "total";
export interface Order {
  column: SortColumn;
  down: boolean;
}

// Unknown values come last in both directions.
export function sorted(rows: Rows, places: Int32Array, order: Order): Int32Array {
  const sign = order.down ? -1 : 1;
  if (order.column === "name") {
    const names = new Map(Array.from(places, (row) => [row, name_of(rows, row)]));
    const compare = new Intl.Collator("en", { numeric: true }).compare;
    return places.slice().sort((left, right) => sign * compare(names.get(left)!, names.get(right)!));
  }
  const values = order.column === "measured" ? measured_of(rows) : rows[order.column];
  return places.slice().sort((left, right) => {
    const a = values[left]!;
    const b = values[right]!;
    if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b)) || left - right;
    return sign * (a - b) || left - right;
  });
}

export function measured_of(rows: Rows): Float64Array {
  return Float64Array.from({ length: rows.count }, (_, row) => model_of(rows, row)?.measured_ms ?? NaN);
}
