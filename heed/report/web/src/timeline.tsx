// A slider over a sequence of moments.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

// The index shown: the last one, even when more are added, until another is chosen.
export function useMoment(count: number): [number, (place: number) => void] {
  const [place, set_place] = useState<number | null>(null);
  const last = count - 1;
  return [Math.min(place ?? last, last), (to) => set_place(to >= last ? null : to)];
}

interface Properties {
  at: number;
  count: number;
  label: string;
  value: string; // the moment in words
  testid: string;
  move: (place: number) => void;
  before?: ComponentChildren; // beside the slider
  children: ComponentChildren; // the description of the moment
}

export function Timeline({ at, count, label, value, testid, move, before, children }: Properties) {
  return (
    <div class="timeline">
      {before}
      <input
        type="range"
        class="controls"
        min={0}
        max={count - 1}
        value={at}
        aria-label={label}
        aria-valuetext={value}
        data-testid={testid}
        onInput={(event) => move(Number(event.currentTarget.value))}
      />
      {children}
    </div>
  );
}
