// Quantities for an axis, for the colour of points or for limits.

import { bits, bytes, count, in_unit, milliseconds, plain } from "../../format.ts";
import type { FoundModel, Unit } from "../../document.ts";
import type { Better } from "./front.ts";
import { loss_of, most_tokens, tokens_of } from "./finalists.ts";
import { model_of, type Rows } from "./rows.ts";

export type QuantityName = "score" | "latency" | "step" | "first-token" | "memory" | "decoder" | "total" | "reached" | Unit;

export interface Quantity {
  name: QuantityName;
  title: string;
  axis: string; // the title with the unit that `scale` gives
  scale: number; // what one unit of the axis is worth
  unit: string;
  better: Better;
  format: (value: number) => string;
  values: Float64Array;
  // Of a model that was measured as a whole.
  measured: (model: FoundModel) => number;
}

const mebibyte = 1024 * 1024;

// The best loss of a trained model, in this unit.
function trained(model: FoundModel, unit: Unit): number {
  const losses = model.trained.filter((one) => one.unit === unit).map((one) => in_unit(one.loss, unit));
  return losses.length > 0 ? Math.min(...losses) : NaN;
}

// Of models that were measured as a whole; unknown of the others.
function values_of(rows: Rows, of_model: (model: FoundModel) => number): Float64Array {
  return Float64Array.from({ length: rows.count }, (_, row) => {
    const model = model_of(rows, row);
    return model ? of_model(model) : NaN;
  });
}

function trained_quantity(rows: Rows, unit: Unit, title: string): Quantity | null {
  if (!rows.run.models.some((model) => model.trained.some((one) => one.unit === unit))) return null;
  const of_model = (model: FoundModel) => trained(model, unit);
  const values = values_of(rows, of_model);
  return { name: unit, title, axis: title, scale: 1, unit, better: "less", format: (value) => `${plain(value, 4)} ${unit}`, values, measured: of_model };
}

// What models reached that the search itself has trained, all on equally many tokens.
function reached_quantity(rows: Rows): Quantity | null {
  const most = most_tokens(rows.run.models);
  if (most === 0) return null;
  const of_model = (model: FoundModel) => (tokens_of(model) === most ? loss_of(model) : NaN);
  const title = `measured bits per byte after ${count(most)} tokens`;
  return { name: "reached", title, axis: title, scale: 1, unit: "", better: "less", format: bits, values: values_of(rows, of_model), measured: of_model };
}

export function quantities_of(rows: Rows): Quantity[] {
  const large = rows.score.some((value) => Math.abs(value) >= 1e6);
  const list: (Quantity | null)[] = [
    {
      name: "score",
      title: rows.merit.title,
      axis: rows.run.by_law ? rows.merit.title : `score: ${rows.run.proxy}${large ? " (M)" : ""}`,
      scale: large ? 1e6 : 1,
      unit: large ? "M" : "",
      better: rows.merit.better,
      format: rows.merit.format,
      values: rows.score,
      measured: (model) => rows.merit.of_score(model.score),
    },
    reached_quantity(rows),
    trained_quantity(rows, "ppl", "measured perplexity (ppl)"),
    trained_quantity(rows, "bpc", "measured bits per character (bpc)"),
    {
      name: "latency",
      title: "latency",
      axis: `latency of ${rows.run.length} tokens (ms)`,
      scale: 1,
      unit: "ms",
      better: "less",
      format: milliseconds,
      values: rows.latency,
      measured: (model) => model.measured_ms,
    },
    rows.step.some((value) => value > 0)
      ? {
          name: "step",
          title: "latency of one more token",
          axis: `latency of one more token after ${rows.run.length} (ms)`,
          scale: 1,
          unit: "ms",
          better: "less",
          format: milliseconds,
          values: rows.step,
          measured: (model) => model.step_ms ?? NaN,
        }
      : null,
    rows.first_token.some((value) => value > 0)
      ? {
          name: "first-token",
          title: "time to the first token",
          axis: `from loading to the end of ${rows.run.length} tokens (ms)`,
          scale: 1,
          unit: "ms",
          better: "less",
          format: milliseconds,
          values: rows.first_token,
          measured: (model) => model.first_token_ms ?? NaN,
        }
      : null,
    {
      name: "memory",
      title: "memory",
      axis: "memory (MiB)",
      scale: mebibyte,
      unit: "MiB",
      better: "less",
      format: bytes,
      values: rows.memory,
      measured: (model) => model.planned_bytes,
    },
    {
      name: "decoder",
      title: "parameters of the decoder",
      axis: "parameters of the decoder (M)",
      scale: 1e6,
      unit: "M",
      better: "less",
      format: count,
      values: rows.decoder,
      measured: (model) => model.decoder,
    },
    {
      name: "total",
      title: "parameters",
      axis: "parameters (M)",
      scale: 1e6,
      unit: "M",
      better: "less",
      format: count,
      values: rows.total,
      measured: (model) => model.total,
    },
  ];
  return list.filter((one) => one !== null);
}

export interface Range {
  low: number;
  high: number;
}

// Of finite values; for a logarithm only of positive ones.
export function range_of(lists: Iterable<number>[], logarithmic: boolean): Range | null {
  let low = Infinity;
  let high = -Infinity;
  for (const list of lists) {
    for (const value of list) {
      if (!Number.isFinite(value) || (logarithmic && value <= 0)) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  return low <= high ? { low, high } : null;
}

// A margin around the range, also for a single value.
export function widened({ low, high }: Range, logarithmic: boolean): Range {
  if (logarithmic) {
    const factor = high > low ? (high / low) ** 0.05 : 1.5;
    return { low: low / factor, high: high * factor };
  }
  const air = high > low ? (high - low) * 0.05 : Math.abs(high) * 0.1 || 1;
  return { low: low - air, high: high + air };
}

// 1, 2, 5, 10, ..: about `wanted` of them inside the range.
export function ticks({ low, high }: Range, logarithmic: boolean, wanted = 6): number[] {
  if (logarithmic && high / low > 8) {
    const decades = Math.log10(high / low);
    const factors = decades > wanted / 1.5 ? [1] : [1, 2, 5];
    const every = Math.max(1, Math.ceil(decades / wanted));
    const list: number[] = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power += 1) {
      if (power % every !== 0) continue;
      for (const factor of factors) {
        const tick = Number((factor * 10 ** power).toPrecision(3));
        if (tick >= low && tick <= high) list.push(tick);
      }
    }
    return list;
  }
  const rough = (high - low) / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough) ?? 10 * power;
  const list: number[] = [];
  for (let place = Math.ceil(low / step); place * step <= high; place += 1) list.push(Number((place * step).toPrecision(12)));
  return list;
}
