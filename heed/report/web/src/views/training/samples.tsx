// What a model writes at one step after the other.

import { useState } from "preact/hooks";
import type { TrainingRun } from "../../document.ts";
import { whole } from "../../format.ts";
import { Nothing, Picker } from "../../parts.tsx";

export function Samples({ runs }: { runs: TrainingRun[] }) {
  const writing = runs.filter((run) => run.samples.length > 0);
  const [chosen, choose] = useState("");
  // null is the last one, also when more come.
  const [place, move] = useState<number | null>(null);
  const run = writing.find((run) => run.name === chosen) ?? writing[0];
  if (!run) return <Nothing>No run has written samples.</Nothing>;
  const last = run.samples.length - 1;
  const at = Math.min(place ?? last, last);
  const sample = run.samples[at]!;
  return (
    <>
      <div class="timeline">
        {writing.length > 1 && (
          <Picker title="Run" testid="sample-run" value={run.name} options={writing.map((one) => ({ value: one.name, title: one.name }))} on_change={choose} />
        )}
        <input
          type="range"
          class="controls"
          min={0}
          max={last}
          value={at}
          aria-label="sample"
          aria-valuetext={`step ${sample.step}`}
          data-testid="sample-slider"
          onInput={(event) => {
            const next = Number(event.currentTarget.value);
            move(next === last ? null : next);
          }}
        />
        <p>
          after step {whole(sample.step)} ({at + 1} of {last + 1})
        </p>
      </div>
      <pre class="sample" data-testid="sample" tabIndex={0}>
        {sample.text}
      </pre>
    </>
  );
}
