// What can be drawn of a training run, and against what.

import type { TrainingRun } from "../../document.ts";
import { count, in_unit, plain, seconds } from "../../format.ts";

export type Across = "step" | "tokens" | "seconds";

export const across_titles: Record<Across, string> = { step: "step", tokens: "tokens read", seconds: "time in steps" };
export const across_formats: Record<Across, (value: number) => string> = { step: count, tokens: count, seconds };

// ECharts writes a gap as a dash.
export type Pair = [number, number | "-"];

function pairs(x: number[], y: ArrayLike<number | null>, map: (value: number | null) => number = (value) => value ?? NaN): Pair[] {
  return x.map((at, place) => {
    const value = map(y[place] ?? null);
    return [at, Number.isFinite(value) ? value : "-"];
  });
}

export interface Small {
  name: "rate" | "norm" | "tokens_per_second";
  title: string;
  axis: string;
  format: (value: number) => string;
}

export const small_charts: Small[] = [
  { name: "rate", title: "Learning rate", axis: "learning rate", format: (value) => (value !== 0 && Math.abs(value) < 0.001 ? value.toExponential(1) : plain(value)) },
  { name: "norm", title: "Gradient norm", axis: "norm of the gradient", format: (value) => plain(value) },
  { name: "tokens_per_second", title: "Speed", axis: "tokens per second", format: count },
];

export function loss_points(run: TrainingRun, across: Across): Pair[] {
  return pairs(run.series[across], run.series.loss, (loss) => in_unit(loss, run.unit));
}

export function valid_points(run: TrainingRun, across: Across): Pair[] {
  return pairs(run.valid[across], run.valid.loss, (loss) => in_unit(loss, run.unit));
}

export function small_points(run: TrainingRun, across: Across, name: Small["name"]): Pair[] {
  return pairs(run.series[across], run.series[name]);
}

// Index of the best loss on the valid part, -1 without any.
export function best_valid(run: TrainingRun): number {
  let best = -1;
  run.valid.loss.forEach((loss, place) => {
    if (Number.isFinite(loss) && (best < 0 || loss < run.valid.loss[best]!)) best = place;
  });
  return best;
}

export function last<T>(list: T[]): T | undefined {
  return list[list.length - 1];
}

// The highest value worth showing: the first losses of a run are far above the rest.
export function ceiling(points: Pair[][]): number | undefined {
  const tops = points.flatMap((list) => {
    const values = list.map(([, value]) => value).filter((value) => value !== "-");
    const sorted = values.sort((left, right) => left - right);
    return sorted.length > 20 ? [sorted[Math.floor(sorted.length * 0.97)]! * 1.1] : [];
  });
  return tops.length > 0 ? Number(Math.max(...tops).toPrecision(2)) : undefined;
}
