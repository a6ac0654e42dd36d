import assert from "node:assert/strict";
import { test } from "node:test";
import { bits, signed_bits, small } from "../src/format.ts";
import { use_letters } from "../src/letters.ts";
import { block_title, by_rate, rate_of, type RatedBlock } from "../src/rates.ts";
import { groups_of, kinds_in } from "../src/views/worth/groups.ts";

use_letters([
  { letter: "s", name: "self-attention", identity: false, sizes: [{ name: "heads", title: "heads" }] },
  { letter: "f", name: "feed-forward", identity: false, sizes: [{ name: "inner", title: "inner width" }] },
  { letter: "i", name: "identity", identity: true, sizes: [] },
  { letter: "r", name: "SRU", identity: false, sizes: [{ name: "projection", title: "projection" }] },
]);

const block = (letter: string, gain: number, ms: number | null, parameters = 1e6): RatedBlock => ({ letter, width: 8, sizes: { projection: 4 }, parameters, bits: gain, piece: "", ms });

test("a rate is bits for what the block costs", () => {
  assert.equal(rate_of(block("r", 0.5, 2), "ms"), 0.25);
  assert.equal(rate_of(block("r", 0.5, 2, 2e5), "parameters"), 2.5);
  assert.ok(Number.isNaN(rate_of(block("r", 0.5, null), "ms")));
  assert.equal(block_title(block("r", 1, 1)), "r, projection 4");
});

test("the highest rate is first, and what was not timed last", () => {
  const blocks = [block("s", 0.1, null), block("f", 0.2, 2), block("r", 0.3, 1), block("r", 0.4, null), block("s", 0.5, 1)];
  assert.deepEqual(by_rate(blocks, "ms").map((one) => one.bits), [0.5, 0.3, 0.2, 0.4, 0.1]);
  assert.deepEqual(by_rate(blocks, "parameters").map((one) => one.bits), [0.5, 0.4, 0.3, 0.2, 0.1]);
});

test("models are grouped by the kinds of their blocks", () => {
  assert.equal(kinds_in("(sf)x12 (r) (i)"), "s, f, r");
  assert.equal(kinds_in("(r)x2 (fs)"), "s, f, r");
  assert.deepEqual(groups_of([{ arch: "(sf)" }, { arch: "(r)x2" }, { arch: "(fs)x4" }]), [
    { title: "r", place: 0 },
    { title: "s, f", place: 1 },
  ]);
});

test("bits stand in a column, and tiny ones are not spelled out", () => {
  assert.equal(bits(2.5), "2.500");
  assert.equal(bits(null), "–");
  assert.equal(signed_bits(0.25), "+0.250");
  assert.equal(signed_bits(-0.25), "-0.250");
  assert.equal(small(0.02661), "0.0266");
  assert.equal(small(0.000023), "< 0.0001");
  assert.equal(small(0), "0");
  assert.equal(small(NaN), "–");
});
