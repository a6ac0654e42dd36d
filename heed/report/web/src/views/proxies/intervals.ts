// Coefficients with how far they are chance: the number of models, and the interval of 95% of bootstrap samples.

import type { Interval, Ranking } from "../../document.ts";
import { plain } from "../../format.ts";

// "0.574 (0.2 to 0.81)"; rankings of earlier versions have no intervals.
export function with_interval(value: number | null | undefined, interval: Interval | undefined): string {
  const [low, high] = interval ?? [null, null];
  return low === null || high === null ? plain(value) : `${plain(value)} (${plain(low)} to ${plain(high)})`;
}

export function models_at(ranking: Ranking, place: number): number {
  return ranking.models_by_percent?.[place] ?? Math.floor((ranking.models.length * ranking.percents[place]!) / 100);
}

const few_of_earlier_versions = 30;

// What to be careful with; empty if there are models enough for each coefficient.
export function few_models(ranking: Ranking): string {
  const few = ranking.few_models ?? few_of_earlier_versions;
  const last = ranking.percents.map((_, place) => place).filter((place) => models_at(ranking, place) > 0 && models_at(ranking, place) < few).at(-1);
  if (last === undefined) return "";
  const models = models_at(ranking, last);
  return `Coefficients up to the best ${ranking.percents[last]} % (${models} ${models === 1 ? "model" : "models"}) are of fewer than ${few} models, and mostly chance: go by the 95 % intervals, or train more models.`;
}
