// Thousands of points: one large series for each colour or size, since ECharts draws a large series in one style.

import type { LegendEntry } from "../../parts.tsx";
import type { Colours } from "../../theme.ts";
import type { Quantity } from "./quantities.ts";
import type { Rows } from "./rows.ts";

export interface Cloud {
  id: string;
  rows: Int32Array;
  colour: string;
  size: number;
  opacity: number;
}

export interface Third {
  quantity: Quantity;
  shown_as: "colour" | "size";
}

// Equal numbers of rows in each part, so that every colour is visible however skewed the values are.
export function quantiles(values: Float64Array, rows: Int32Array, parts: number): number[] {
  const sorted = Float64Array.from(rows, (row) => values[row]!)
    .filter(Number.isFinite)
    .sort();
  const edges: number[] = [];
  for (let part = 1; part < parts; part += 1) {
    const edge = sorted[Math.floor((part * sorted.length) / parts)];
    if (edge !== undefined && edge > (edges.at(-1) ?? sorted[0]!)) edges.push(edge);
  }
  return edges;
}

function part_of(value: number, edges: number[]): number {
  let part = 0;
  while (part < edges.length && value >= edges[part]!) part += 1;
  return part;
}

function split(rows: Int32Array, parts: number, part: (row: number) => number): Int32Array[] {
  const lists = Array.from({ length: parts }, () => [] as number[]);
  for (const row of rows) lists[part(row)]!.push(row);
  return lists.map((list) => Int32Array.from(list));
}

export interface Clouds {
  clouds: Cloud[];
  legend: LegendEntry[];
}

const size_steps = [3, 5, 8, 12];

export function clouds_of(rows: Rows, kept: Uint8Array, third: Third | null, front: "apart" | "with others", colours: Colours): Clouds {
  const [out, inside] = split(Int32Array.from({ length: rows.models }, (_, row) => row), 2, (row) => kept[row]!) as [Int32Array, Int32Array];
  const many = rows.count > 3000;
  const size = many ? 3 : 6;
  const opacity = many ? 0.3 : 0.55;
  const faded: Cloud = { id: "out of limits", rows: out, colour: colours.faded, size: many ? 2 : 4, opacity: 0.35 };
  const faded_entry = { colour: colours.faded, mark: "●", text: "outside the limits" };
  if (!third) {
    const parts = front === "apart" ? split(inside, 2, (row) => rows.on_front[row]!) : [inside];
    const clouds = parts.map((list, part): Cloud => {
      const on_front = part === 1;
      return {
        id: on_front ? "on the frontier" : "candidates",
        rows: list,
        colour: on_front ? colours.series[0]! : front === "apart" ? colours.quiet : colours.series[0]!,
        size: on_front ? size + 1 : size,
        opacity: on_front ? 0.7 : opacity,
      };
    });
    const legend = clouds.map((cloud) => ({ colour: cloud.colour, mark: "●", text: cloud.id }));
    return { clouds: [faded, ...clouds], legend: [...legend, faded_entry] };
  }
  const { quantity, shown_as } = third;
  const steps = shown_as === "colour" ? colours.ramp.length : size_steps.length;
  const edges = quantiles(quantity.values, inside, steps);
  const clouds = split(inside, edges.length + 1, (row) => part_of(quantity.values[row]!, edges)).map((list, part): Cloud => {
    const step = edges.length === 0 ? 0 : Math.round((part * (steps - 1)) / edges.length);
    return {
      id: `part ${part}`,
      rows: list,
      colour: shown_as === "colour" ? colours.ramp[step]! : colours.series[0]!,
      size: shown_as === "size" ? size_steps[step]! - (many ? 1 : 0) : size + 1,
      opacity: shown_as === "size" ? 0.35 : 0.75,
    };
  });
  const legend = clouds.map((cloud, part) => ({
    colour: cloud.colour,
    mark: shown_as === "size" ? ["·", "•", "●", "⬤"][Math.min(3, part)]! : "●",
    text: span_text(quantity, edges, part),
  }));
  // Large points are drawn first, so that they do not hide small ones.
  return { clouds: [faded, ...(shown_as === "size" ? clouds.reverse() : clouds)], legend: [...legend, faded_entry] };
}

function span_text(quantity: Quantity, edges: number[], part: number): string {
  if (edges.length === 0) return quantity.title;
  if (part === 0) return `${quantity.title} under ${quantity.format(edges[0]!)}`;
  if (part === edges.length) return `from ${quantity.format(edges[part - 1]!)}`;
  return `to ${quantity.format(edges[part]!)}`;
}
