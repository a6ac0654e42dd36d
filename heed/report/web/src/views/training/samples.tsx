// Samples of a model over its training.

import { useState } from "preact/hooks";
import type { TrainingRun } from "../../document.ts";
import { whole } from "../../format.ts";
import { Nothing, Picker } from "../../parts.tsx";
import { Timeline, useMoment } from "../../timeline.tsx";

export function Samples({ runs }: { runs: TrainingRun[] }) {
  const writing = runs.filter((run) => run.samples.length > 0);
  const [chosen, choose] = useState("");
  const run = writing.find((run) => run.name === chosen) ?? writing[0];
  const [at, move] = useMoment(run?.samples.length ?? 0);
  const sample = run?.samples[at];
  if (!run || !sample) return <Nothing>No run has written samples.</Nothing>;
  const count = run.samples.length;
  const picker = writing.length > 1 && (
    <Picker title="Run" testid="sample-run" value={run.name} options={writing.map((one) => ({ value: one.name, title: one.name }))} on_change={choose} />
  );
  return (
    <>
      <Timeline at={at} count={count} label="sample" value={`step ${sample.step}`} testid="sample-slider" move={move} before={picker}>
        <p>
          after step {whole(sample.step)} ({at + 1} of {count}
          {run.samples_recorded > count && `, picked evenly from ${whole(run.samples_recorded)}`})
        </p>
      </Timeline>
      <pre class="sample" data-testid="sample" tabIndex={0}>
        {sample.text}
      </pre>
    </>
  );
}
