// A supernet at a moment: of one seed, or the mean of all.

import type { SupernetRun } from "../../document.ts";

type Seed = SupernetRun["seeds"][number];

export interface Moment {
  probabilities: number[][]; // [layer][letter]
  temperature: number;
  by_layer: string; // the most probable letter of each layer
}

// Every step at which one of the seeds recorded something.
export function recorded_steps(seeds: Seed[]): number[] {
  return [...new Set(seeds.flatMap((seed) => seed.course.step))].sort((left, right) => left - right);
}

// Index of the last record up to a step, 0 before the first record, -1 without any.
export function place_at(steps: number[], step: number): number {
  let place = steps.length > 0 ? 0 : -1;
  for (let next = 1; next < steps.length && steps[next]! <= step; next += 1) place = next;
  return place;
}

export function moment_at(seeds: Seed[], letters: string, step: number): Moment | null {
  const records = seeds.flatMap((seed) => {
    const place = place_at(seed.course.step, step);
    const probabilities = seed.course.probabilities[place];
    return probabilities ? [{ probabilities, temperature: seed.course.temperature[place] ?? NaN }] : [];
  });
  if (records.length === 0) return null;
  const layers = Math.max(...records.map((record) => record.probabilities.length));
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const probabilities = Array.from({ length: layers }, (_, layer) =>
    Array.from(letters, (_, letter) => mean(records.map((record) => record.probabilities[layer]?.[letter] ?? 0))),
  );
  return {
    probabilities,
    temperature: mean(records.map((record) => record.temperature)),
    by_layer: probabilities.map((layer) => letters[layer.indexOf(Math.max(...layer))] ?? "?").join(""),
  };
}
