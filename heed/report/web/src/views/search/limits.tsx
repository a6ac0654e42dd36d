// Limits as numbers and sliders.

import { useMemo, useState } from "preact/hooks";
import { digits } from "../../format.ts";
import type { Limited, Limits } from "./filter.ts";
import { type Quantity, range_of } from "./quantities.ts";

// Three digits in the quantity's unit, so that the value shown is the value that filters.
export function nice(value: number, quantity: Quantity): number {
  return Number((value / quantity.scale).toPrecision(3)) * quantity.scale;
}

interface Properties {
  quantities: Quantity[];
  limits: Limits;
  own: Limits; // of the run
  set_limit: (name: Limited, value: number | null) => void;
  reset: (limits: Limits) => void;
}

const limited: Limited[] = ["latency", "memory", "total", "score"];
const no_limits: Limits = { latency: null, memory: null, total: null, score: null };

export function LimitInputs({ quantities, limits, own, set_limit, reset }: Properties) {
  const same = (other: Limits) => limited.every((name) => limits[name] === other[name]);
  return (
    <div class="limits" data-testid="limits">
      {limited.map((name) => (
        <LimitInput key={name} name={name} quantity={quantities.find((one) => one.name === name)!} limit={limits[name]} set_limit={set_limit} />
      ))}
      <div class="buttons">
        <button type="button" data-testid="limits-none" disabled={same(no_limits)} onClick={() => reset(no_limits)}>
          No limits
        </button>
        <button type="button" data-testid="limits-own" disabled={same(own)} onClick={() => reset(own)}>
          Limits of the search
        </button>
      </div>
    </div>
  );
}

interface InputProperties {
  name: Limited;
  quantity: Quantity;
  limit: number | null;
  set_limit: (name: Limited, value: number | null) => void;
}

const slider_steps = 200;

function LimitInput({ name, quantity, limit, set_limit }: InputProperties) {
  const range = useMemo(() => range_of([quantity.values], false) ?? { low: 0, high: 1 }, [quantity]);
  const at_least = quantity.better === "more";
  // Without a limit: costs at the upper end, the score at the lower.
  const resting = at_least ? 0 : slider_steps;
  const logarithmic = range.low > 0 && range.high / range.low > 20;
  const value_at = (step: number) => {
    const share = step / slider_steps;
    return logarithmic ? range.low * (range.high / range.low) ** share : range.low + share * (range.high - range.low);
  };
  const step_of = (value: number) => {
    const share = logarithmic ? Math.log(Math.max(value, range.low) / range.low) / Math.log(range.high / range.low) : (value - range.low) / (range.high - range.low || 1);
    return Math.round(Math.max(0, Math.min(1, share)) * slider_steps);
  };
  // While a number is typed it is not rewritten: "1." would become "1".
  const [draft, write] = useState<string | null>(null);
  const typed = (text: string) => {
    write(text);
    const value = Number(text);
    set_limit(name, text.trim() === "" || !Number.isFinite(value) ? null : value * quantity.scale);
  };
  const title = `${quantity.title} ${at_least ? "at least" : "at most"}`;
  const shown = limit === null ? "" : digits(limit / quantity.scale, 6);
  return (
    <div class="limit">
      <label>
        <span>{title}</span>
        <span class="with-unit">
          <input type="number" step="any" placeholder="no limit" data-testid={`limit-${name}`} value={draft ?? shown} onInput={(event) => typed(event.currentTarget.value)} onBlur={() => write(null)} />
          {quantity.unit}
        </span>
      </label>
      <input
        type="range"
        min={0}
        max={slider_steps}
        aria-label={`${title}, slider`}
        aria-valuetext={limit === null ? "no limit" : quantity.format(limit)}
        data-testid={`limit-${name}-slider`}
        value={limit === null ? resting : step_of(limit)}
        onInput={(event) => {
          const step = Number(event.currentTarget.value);
          set_limit(name, step === resting ? null : nice(value_at(step), quantity));
        }}
      />
    </div>
  );
}
