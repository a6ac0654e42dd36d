import assert from "node:assert/strict";
import { test } from "node:test";
import { use_letters } from "../src/letters.ts";
import { bytes, count, digits, in_unit, milliseconds, percent, seconds, signed_percent, whole } from "../src/format.ts";
import { few_models, with_interval } from "../src/views/proxies/intervals.ts";
import { cells_of, grouped, measure_of, type Piece } from "../src/views/machine/pieces.ts";
import { moment_at, place_at } from "../src/views/supernet/course.ts";

test("numbers have three digits and their unit", () => {
  assert.equal(count(5_721_000), "5.72 M");
  assert.equal(count(999_960), "1 M");
  assert.equal(count(1_557_611_200), "1.56 B");
  assert.equal(count(-2.8392), "-2.84");
  assert.equal(count(null), "–");
  assert.equal(milliseconds(0.246), "246 µs");
  assert.equal(milliseconds(0.9999), "1 ms");
  assert.equal(milliseconds(24.44), "24.4 ms");
  assert.equal(seconds(7), "7 s");
  assert.equal(seconds(5400), "90 min");
  assert.equal(bytes(32 * 1024 * 1024), "32 MiB");
  assert.equal(bytes(1023.9), "1 KiB");
  assert.equal(percent(0.0312), "3.1 %");
  assert.equal(signed_percent(0.5), "+50 %");
  assert.equal(whole(1234567), "1,234,567");
  assert.equal(digits(0), "0");
  assert.equal(digits(100), "100");
  assert.equal(in_unit(Math.LN2, "bpc"), 1);
  assert.ok(Number.isNaN(in_unit(null, "ppl")));
});

test("coefficients have their interval and a warning for few models", () => {
  assert.equal(with_interval(0.5741, [0.2, 0.8129]), "0.574 (0.2 to 0.813)");
  assert.equal(with_interval(1, [null, null]), "1");
  assert.equal(with_interval(null, undefined), "–");
  const models = Array.from({ length: 100 }, (_, place) => ({ id: `m${place}`, perplexity: 9, latency_ms: null, arch: "sf", total: 1 }));
  const ranking = { models, percents: [10, 20, 100], proxies: [] };
  assert.match(few_models(ranking), /^Coefficients up to the best 20 % \(20 models\) are of fewer than 30 models/);
  assert.match(few_models({ ...ranking, models_by_percent: [10, 20, 100], few_models: 15 }), /^Coefficients up to the best 10 % \(10 models\) are of fewer than 15 models/);
  assert.equal(few_models({ ...ranking, percents: [100] }), "");
  assert.equal(few_models({ ...ranking, models: [] }), "");
});

test("a moment is the last record up to it, and the mean of seeds", () => {
  assert.equal(place_at([0, 10, 20], 15), 1);
  assert.equal(place_at([5], 0), 0);
  assert.equal(place_at([], 3), -1);
  const seed = (first: number) => ({
    seed: 1,
    done: true,
    converged: true,
    loss: null,
    arch: "",
    by_layer: "",
    course: { step: [0], temperature: [5], by_layer: ["s"], probabilities: [[[first, 1 - first]]] },
    slices: [],
    losses: { step: [], loss: [] },
  });
  const moment = moment_at([seed(1), seed(0.5)], "sf", 3)!;
  assert.deepEqual(moment.probabilities, [[0.75, 0.25]]);
  assert.equal(moment.by_layer, "s");
  assert.equal(moment_at([], "sf", 0), null);
});

test("pieces stand in a table of their letter", () => {
  use_letters([
    { letter: "s", name: "self-attention", identity: false, sizes: [{ name: "heads", title: "heads" }] },
    { letter: "f", name: "feed-forward", identity: false, sizes: [{ name: "inner", title: "inner width" }] },
  ]);
  const piece: Piece = {
    key: "",
    what: "block",
    backbone: "txl",
    length: 64,
    step: false,
    letter: "f",
    width: 128,
    sizes: { inner: 512 },
    vocabulary: null,
    embedding_width: null,
    ms: 2,
    low_ms: 1.9,
    high_ms: 2.2,
    gflop: 0.1,
    date: "",
  };
  const groups = grouped([piece, { ...piece, width: 64 }, { ...piece, what: "frame" }, { ...piece, letter: "s", sizes: { heads: 4 } }]);
  assert.deepEqual(groups.map((group) => [group.letter, group.size]), [["f", "inner"], ["s", "heads"]]);
  assert.deepEqual(cells_of(groups[0]!, "ms", null), { widths: [64, 128], sizes: [512], cells: [[1, 0, 2, 0], [0, 0, 2, 1]] });
  assert.equal(measure_of(piece, "share", 100), 0.5);
  assert.equal(measure_of(piece, "share", null), null);
});
