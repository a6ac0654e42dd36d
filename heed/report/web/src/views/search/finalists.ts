// Models that a search has trained itself: finalists, and rivals they are compared with.

import type { FoundModel } from "../../document.ts";

// That it was trained on; 0 if it was not trained.
export function tokens_of(model: FoundModel): number {
  return model.moments.tokens.at(-1) ?? 0;
}

// At the end, in bits per byte.
export function loss_of(model: FoundModel): number {
  return model.moments.bits_per_byte.at(-1) ?? NaN;
}

export function most_tokens(models: FoundModel[]): number {
  return Math.max(0, ...models.map(tokens_of));
}

// Those trained longest first, and among them the best: losses after different numbers of tokens do not compare.
export function trained_models(models: FoundModel[]): FoundModel[] {
  return models.filter((model) => tokens_of(model) > 0).sort((left, right) => tokens_of(right) - tokens_of(left) || loss_of(left) - loss_of(right));
}

export function is_recommended(model: FoundModel): boolean {
  return model.picks[0] === "best";
}
