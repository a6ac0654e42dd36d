// A supernet: which letter each layer chooses, over time and over seeds.

import { useMemo, useState } from "preact/hooks";
import type { SupernetRun } from "../../document.ts";
import { in_unit, loss_text } from "../../format.ts";
import { letter_meaning } from "../../letters.ts";
import { Choice, type Column, Nothing, Panel, Picker, Table } from "../../parts.tsx";
import { Course } from "./course_panel.tsx";
import { Losses, Slices } from "./charts.tsx";
import { Letters } from "./letters.tsx";

type Seed = SupernetRun["seeds"][number];

export function SupernetView({ runs }: { runs: SupernetRun[] }) {
  const run = runs[0]!;
  const [chosen, choose] = useState("mean");
  if (run.seeds.length === 0) return <Nothing>No seed of this supernet has recorded anything yet.</Nothing>;
  const one = run.seeds.find((seed) => String(seed.seed) === chosen);
  const options = [{ value: "mean", title: "mean of all" }, ...run.seeds.map((seed) => ({ value: String(seed.seed), title: `${seed.seed}` }))];
  const properties = { title: "Seed", testid: "choice-seed", value: one ? chosen : "mean", options, on_change: choose };
  return (
    <>
      <p class="about">
        {run.layers} layers of the letters {Array.from(run.letters, (letter) => `${letter} (${letter_meaning(letter)})`).join(", ")}; {run.steps} iterations, the first {run.weights_only} train
        weights only.
      </p>
      {run.seeds.length > 1 && <div class="controls">{run.seeds.length > 6 ? <Picker {...properties} /> : <Choice {...properties} />}</div>}
      <div class="columns">
        <Course run={run} seeds={one ? [one] : run.seeds} />
        <Panel title="What each seed found" testid="seeds-panel" wide>
          <Found run={run} />
        </Panel>
        <Panel title="Blocks in each third of the layers" testid="slices-panel">
          <Slices run={run} seed={one ?? null} />
        </Panel>
        <Panel title="Loss" testid="losses-panel">
          <Losses run={run} seeds={one ? [one] : run.seeds} />
        </Panel>
      </div>
    </>
  );
}

function Found({ run }: { run: SupernetRun }) {
  const columns = useMemo(
    (): Column<Seed>[] => [
      { title: "Seed", number: true, cell: (seed) => seed.seed },
      { title: "State", cell: (seed) => (seed.done ? (seed.converged ? "done, string stable" : "done, string still changing") : run.state) },
      { title: `Loss (${run.unit})`, number: true, cell: (seed) => (Number.isNaN(in_unit(seed.loss, run.unit)) ? "–" : loss_text(seed.loss, run.unit)) },
      { title: "By layer", cell: (seed) => <Letters text={seed.by_layer} /> },
      { title: "String", cell: (seed) => <code>{seed.arch || (seed.done ? "nothing but identity" : "–")}</code> },
    ],
    [run],
  );
  return <Table columns={columns} rows={run.seeds} testid="seeds" label="what each seed found" />;
}
