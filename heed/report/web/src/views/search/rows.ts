// The models of a search as columns of numbers: twenty thousand of them are filtered and drawn at every move of a
// limit, so rows are not objects.

import type { Block, FoundModel, Frame, SearchRun } from "../../document.ts";
import { fold } from "./fold.ts";
import { type Merit, merit_of } from "./merit.ts";

// First the candidates, then measured models that are not candidates, then baselines and rivals.
export interface Rows {
  run: SearchRun;
  count: number;
  models: number; // without baselines and rivals
  merit: Merit;
  score: Float64Array; // as the merit shows it
  latency: Float64Array; // predicted; measured where nothing is predicted
  known_latency: Float64Array; // measured, or else predicted; limits apply to this
  step: Float64Array; // latency of one more token
  first_token: Float64Array; // from loading the model to the end of the prompt
  memory: Float64Array;
  decoder: Float64Array;
  total: Float64Array;
  found: Int32Array; // index in run.models, or -1
  on_front: Uint8Array;
  search_text: () => string[]; // in lower case, made on first use
}

function key(frame: number, blocks: number[]): string {
  return `${frame}:${blocks.join(",")}`;
}

export function rows_of(run: SearchRun): Rows {
  const candidates = run.candidates;
  const evaluated = candidates.score.length;
  const place_of_key = new Map<string, number>();
  if (run.models.length > 0) {
    for (let row = 0; row < evaluated; row += 1) place_of_key.set(key(candidates.frame[row]!, candidates.blocks[row] ?? []), row);
  }
  const row_of = run.models.map((model) => (model.role === "model" ? (place_of_key.get(key(model.frame, model.blocks)) ?? -1) : -1));
  const places = run.models.map((_, place) => place).filter((place) => row_of[place]! < 0);
  const further = [
    ...places.filter((place) => run.models[place]!.role === "model"),
    ...places.filter((place) => run.models[place]!.role !== "model"),
  ];
  const count = evaluated + further.length;
  const column = (of_candidates: (number | null)[], of_model: (model: FoundModel) => number | null) => {
    const values = new Float64Array(count).fill(NaN);
    for (let row = 0; row < evaluated; row += 1) values[row] = of_candidates[row] ?? NaN;
    further.forEach((place, index) => (values[evaluated + index] = of_model(run.models[place]!) ?? NaN));
    return values;
  };
  const found = new Int32Array(count).fill(-1);
  row_of.forEach((row, place) => {
    if (row >= 0) found[row] = place;
  });
  further.forEach((place, index) => (found[evaluated + index] = place));
  const on_front = new Uint8Array(count);
  for (const row of candidates.front) on_front[row] = 1;

  const latency = column(candidates.latency_ms, (model) => model.predicted_ms ?? model.measured_ms);
  const known_latency = latency.map((value, row) => run.models[found[row]!]?.measured_ms ?? value);

  const merit = merit_of(run);
  let texts: string[] | null = null;
  const rows: Rows = {
    run,
    count,
    models: evaluated + further.filter((place) => run.models[place]!.role === "model").length,
    merit,
    score: column(candidates.score, (model) => model.score).map(merit.of_score),
    latency,
    known_latency,
    step: column(candidates.step_ms, (model) => model.predicted_step_ms ?? model.step_ms),
    first_token: column(candidates.first_token_ms, (model) => model.predicted_first_token_ms ?? model.first_token_ms),
    memory: column(candidates.memory, (model) => model.planned_bytes),
    decoder: column(candidates.decoder, (model) => model.decoder),
    total: column(candidates.total, (model) => model.total),
    found,
    on_front,
    search_text: () => (texts ??= Array.from({ length: count }, (_, row) => text_of(rows, row))),
  };
  return rows;
}

export function model_of(rows: Rows, row: number): FoundModel | null {
  return rows.run.models[rows.found[row] ?? -1] ?? null;
}

export function blocks_of(rows: Rows, row: number): Block[] {
  const places = model_of(rows, row)?.blocks ?? rows.run.candidates.blocks[row] ?? [];
  return places.flatMap((place) => rows.run.blocks[place] ?? []);
}

export function frame_of(rows: Rows, row: number): Frame | null {
  return rows.run.frames[model_of(rows, row)?.frame ?? rows.run.candidates.frame[row] ?? -1] ?? null;
}

// Candidates are named by their number in the search.
export function name_of(rows: Rows, row: number): string {
  return model_of(rows, row)?.name ?? `#${row + 1}`;
}

export function letters_of(blocks: Block[]): string {
  return fold(blocks.map((block) => block.letter))
    .map((group) => `(${group.items.join("")})${group.times > 1 ? `x${group.times}` : ""}`)
    .join(" ");
}

export function arch_of(rows: Rows, row: number): string {
  const given = model_of(rows, row)?.arch;
  if (given) return given;
  const blocks = blocks_of(rows, row);
  const frame = frame_of(rows, row);
  return `${letters_of(blocks) || "no blocks"}${frame ? `, width ${frame.width}` : ""}`;
}

function text_of(rows: Rows, row: number): string {
  const model = model_of(rows, row);
  const letters = blocks_of(rows, row).map((block) => block.letter);
  return [name_of(rows, row), arch_of(rows, row), letters.join(""), model?.role ?? "", ...(model?.picks ?? [])].join(" ").toLowerCase();
}
