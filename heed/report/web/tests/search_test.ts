import assert from "node:assert/strict";
import { test } from "node:test";
import type { SearchRun } from "../src/document.ts";
import { quantiles } from "../src/views/search/clouds.ts";
import { csv_of, field } from "../src/views/search/csv.ts";
import { both, limits_of, matching, sorted, within } from "../src/views/search/filter.ts";
import { common, fold } from "../src/views/search/fold.ts";
import { front_of, median } from "../src/views/search/front.ts";
import { fitting, place_labels } from "../src/views/search/labels.ts";
import { trained_models } from "../src/views/search/finalists.ts";
import { quantities_of, ticks, widened } from "../src/views/search/quantities.ts";
import { arch_of, name_of, rows_of } from "../src/views/search/rows.ts";

const block = (letter: string) => ({ letter, width: 8, sizes: {}, parameters: 1, bytes: 4, ms: 1 });
const model = { picks: [], decoder: 1, total: 2, predicted_ms: 2, low_ms: 1, high_ms: 3, predicted_step_ms: null, step_ms: null, predicted_first_token_ms: null, first_token_ms: null, planned_bytes: 20, measured_bytes: 21, arch: "", frame: 0, train: "", trained: [], moments: { tokens: [], bits_per_byte: [] } };
const run: SearchRun = {
  kind: "search",
  name: "run",
  path: "run",
  state: "done",
  problems: [],
  space: "",
  about: "",
  strategy: "",
  proxy: "decoder_params",
  length: 64,
  limits: { latency_ms: 2, memory: null, parameters: null },
  frames: [{ width: 8, embedding_width: 8, vocabulary: 256, parameters: 1, bytes: 4, ms: 1 }],
  blocks: [block("s"), block("f")],
  candidates: {
    key: ["a", "b", "c"],
    score: [1, 2, 3],
    latency_ms: [1, 2, 3],
    step_ms: [0.1, 0.2, 0.3],
    first_token_ms: [null, null, null],
    memory: [10, 20, 30],
    decoder: [1, 2, 3],
    total: [4, 5, 6],
    frame: [0, 0, 0],
    blocks: [[0], [0, 1, 0, 1], [1, 1]],
    front: [0, 1, 2],
  },
  models: [
    { ...model, name: "base", role: "baseline", score: 9, measured_ms: 1.5, blocks: [0], predicted_ms: null },
    { ...model, name: "m1", role: "model", score: 2, measured_ms: 2.1, blocks: [0, 1, 0, 1], picks: ["best"] },
  ],
  hypervolume: { evaluations: [], volume: [] },
  by_law: false,
  train_tokens: null,
  rates: [],
};

test("a measured model is the candidate with its blocks, a baseline a row of its own", () => {
  const rows = rows_of(run);
  assert.equal(rows.count, 4);
  assert.equal(rows.models, 3);
  assert.deepEqual([0, 1, 2, 3].map((row) => name_of(rows, row)), ["#1", "m1", "#3", "base"]);
  assert.equal(arch_of(rows, 1), "(sf)x2, width 8");
  assert.equal(rows.latency[3], 1.5);
});

// The same models, scored by minus the loss that a law predicts.
const moments = (tokens: number, loss: number) => ({ tokens: [tokens / 2, tokens], bits_per_byte: [9, loss] });
const by_law: SearchRun = {
  ...run,
  by_law: true,
  candidates: { ...run.candidates, score: [-3, -2.5, -2] },
  models: [
    { ...model, name: "other", role: "model", score: -3, measured_ms: 1, blocks: [0], moments: moments(50, 2.9) },
    { ...model, name: "best", role: "model", score: -2.5, measured_ms: 2, blocks: [0, 1, 0, 1], picks: ["best"], moments: moments(100, 3.5) },
    { ...model, name: "sandwich", role: "rival", score: -2.8, measured_ms: 2, blocks: [0, 1], moments: moments(100, 3.25) },
    { ...model, name: "untrained", role: "rival", score: -2.9, measured_ms: 2, blocks: [0, 1] },
  ],
};

test("a law's score is shown as the loss that it predicts, and less is better", () => {
  const rows = rows_of(by_law);
  assert.deepEqual([...rows.score], [3, 2.5, 2, 2.8, 2.9]);
  assert.equal(rows.models, 3);
  const any = { latency: null, memory: null, total: null, score: null };
  assert.deepEqual([...within(rows, { ...any, score: 2.8 })], [0, 1, 1, 1, 0]);
  assert.deepEqual([...within(rows, any)], [1, 1, 1, 1, 1]);
  const score = quantities_of(rows).find((one) => one.name === "score")!;
  assert.equal(score.better, "less");
  assert.equal(score.measured(by_law.models[1]!), 2.5);
  assert.match(csv_of(rows, Int32Array.of(3)), /^name,role,picks,blocks,predicted_bits_per_byte,.*\nsandwich,rival,,.*,2.8,/);
});

test("trained models compare after equally many tokens", () => {
  assert.deepEqual(trained_models(by_law.models).map((one) => one.name), ["sandwich", "best", "other"]);
  const reached = quantities_of(rows_of(by_law)).find((one) => one.name === "reached")!;
  assert.deepEqual([...reached.values].map((value) => (Number.isNaN(value) ? null : value)), [null, 3.5, null, 3.25, null]);
  assert.equal(quantities_of(rows_of(run)).find((one) => one.name === "reached"), undefined);
});

test("limits keep what is on them, as it was measured where it was", () => {
  const rows = rows_of(run);
  assert.deepEqual([...within(rows, limits_of(run))], [1, 0, 0, 1]);
  assert.deepEqual([...within(rows, { ...limits_of(run), latency: 2.1 })], [1, 1, 0, 1]);
  assert.deepEqual([...within(rows, { latency: null, memory: 20, total: null, score: 2 })], [0, 1, 0, 1]);
  assert.deepEqual([...both(Uint8Array.of(1, 1, 0), Uint8Array.of(1, 0, 1))], [1, 0, 0]);
});

test("words, order and file agree", () => {
  const rows = rows_of(run);
  const all = Uint8Array.of(1, 1, 1, 1);
  assert.deepEqual([...matching(rows, all, "BEST sf")], [1]);
  assert.deepEqual([...matching(rows, all, "baseline")], [3]);
  const measured = sorted(rows, matching(rows, all, ""), { column: "measured", down: true });
  assert.deepEqual([...measured], [1, 3, 0, 2]);
  const lines = csv_of(rows, measured).trimEnd().split("\n");
  assert.equal(lines.length, 5);
  assert.ok(lines[1]!.startsWith('m1,model,best,"(sf)x2, width 8",2,2,2.1,'));
  assert.equal(field("=1+1"), "'=1+1");
  assert.equal(field('a "b", c'), '"a ""b"", c"');
});

test("the frontier has no row that another beats", () => {
  const x = Float64Array.of(1, 2, 2, 3, 4, NaN);
  const y = Float64Array.of(5, 5, 7, 6, 9, 99);
  const rows = Int32Array.of(0, 1, 2, 3, 4, 5);
  assert.deepEqual(front_of(rows, x, y, "more"), [0, 2, 4]);
  assert.deepEqual(front_of(rows, x, y, "less"), [0]);
  assert.equal(median([3, 1, NaN, 2, 10]), 2.5);
});

test("repetitions fold and unfold to the same", () => {
  for (const text of ["", "s", "sfsfsf", "sfffsfffff", "rrsf", "aaaaabab"]) {
    const groups = fold([...text]);
    assert.equal(groups.map((group) => group.items.join("").repeat(group.times)).join(""), text);
  }
  assert.deepEqual(fold([..."sfsfsff"]).map((group) => [group.items.join(""), group.times]), [["sf", 3], ["f", 1]]);
  assert.deepEqual(common([..."sfrf"], [..."sff"]), { left: [true, true, false, true], right: [true, true, true] });
});

test("ticks are round and inside", () => {
  assert.deepEqual(ticks({ low: 0.15, high: 30 }, true), [0.2, 0.5, 1, 2, 5, 10, 20]);
  assert.deepEqual(ticks({ low: -1, high: 9 }, false, 5), [0, 2, 4, 6, 8]);
  assert.deepEqual(widened({ low: 5, high: 5 }, false), { low: 4.5, high: 5.5 });
  assert.deepEqual(quantiles(Float64Array.of(1, 2, 3, 4), Int32Array.of(0, 1, 2, 3), 2), [3]);
  assert.deepEqual(quantiles(Float64Array.of(1, 1, 1), Int32Array.of(0, 1, 2), 3), []);
});

test("labels cover neither each other nor marks nor the edge", () => {
  const points: [number, number][] = [[100, 50], [110, 50], [290, 50]];
  const labels = points.map((point) => ({ point, text: "a label" }));
  const placed = place_labels(labels, points, { width: 300, height: 100, pixel: (point) => point, taken: [], lines: [] });
  assert.deepEqual(placed.map((one) => one?.position), ["left", "right", "left"]);
  assert.deepEqual(place_labels(labels, points, { width: 40, height: 10, pixel: (point) => point, taken: [], lines: [] }), [null, null, null]);
});

test("a narrow chart shows a part of long names", () => {
  const sheet = { width: 250, height: 100, pixel: (point: [number, number]) => point, taken: [], lines: [] };
  assert.equal(fitting("transformer-xl-16-layers", "end", sheet), "…16-layers");
  assert.equal(fitting("best, knee, cheapest", "beginning", sheet), "best, kne…");
  assert.equal(fitting("short", "end", sheet), "short");
  assert.equal(fitting("transformer-xl-16-layers", "end", { ...sheet, width: 600 }), "transformer-xl-16-layers");
});

test("labels keep off the line of a limit where they can", () => {
  const sheet = { width: 300, height: 100, pixel: (point: [number, number]) => point, taken: [] };
  const line = { left: 118, right: 122, top: 0, bottom: 100 };
  const labels = [{ point: [100, 50] as [number, number], text: "a label" }];
  assert.equal(place_labels(labels, [[100, 50]], { ...sheet, lines: [] })[0]?.position, "right");
  assert.equal(place_labels(labels, [[100, 50]], { ...sheet, lines: [line] })[0]?.position, "left");
  // Above, to the side of the line that has room.
  const narrow = { ...sheet, width: 140, lines: [{ left: 80, right: 84, top: 0, bottom: 100 }] };
  const shifted = place_labels(labels, [[100, 50]], narrow)[0];
  assert.ok(shifted?.position === "top" && shifted.offset[0] > 0, JSON.stringify(shifted));
  const everywhere = { left: 0, right: 300, top: 0, bottom: 100 };
  assert.equal(place_labels(labels, [[100, 50]], { ...sheet, lines: [everywhere] })[0]?.position, "right");
});
