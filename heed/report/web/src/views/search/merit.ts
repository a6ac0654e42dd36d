// What is shown as the quality of a model. A law of worth scores by minus the loss that it predicts, and people read losses:
// of a search by a law the loss is shown, and less is better.

import type { SearchRun } from "../../document.ts";
import { bits, count } from "../../format.ts";
import type { Better } from "./front.ts";

export interface Merit {
  title: string;
  short: string; // for a column or a tooltip
  key: string; // in a file
  better: Better;
  format: (value: number) => string;
  of_score: (score: number) => number;
}

const score: Merit = { title: "quality score", short: "score", key: "score", better: "more", format: count, of_score: (value) => value };
const loss: Merit = {
  title: "predicted bits per byte",
  short: "predicted bits per byte",
  key: "predicted_bits_per_byte",
  better: "less",
  format: bits,
  of_score: (value) => -value,
};

export function merit_of(run: Pick<SearchRun, "by_law">): Merit {
  return run.by_law ? loss : score;
}
