// Training runs in one chart.

import { useState } from "preact/hooks";
import type { TrainingRun, Unit } from "../../document.ts";
import { count, loss_text, seconds, unit_names, whole } from "../../format.ts";
import { Choice, Nothing, Panel, symbol_marks } from "../../parts.tsx";
import { symbols, turn, useColours } from "../../theme.ts";
import { LossChart, SmallChart } from "./charts.tsx";
import { Samples } from "./samples.tsx";
import { type Across, across_titles, best_valid, last, small_charts } from "./series.ts";

export function TrainingView({ runs }: { runs: TrainingRun[] }) {
  const [across, set_across] = useState<Across>("step");
  const [hidden, hide] = useState<ReadonlySet<string>>(new Set());
  const units: Unit[] = (["bpc", "ppl"] as const).filter((unit) => runs.some((run) => run.unit === unit));
  const shown = runs.filter((run) => !hidden.has(run.name));
  const begun = shown.filter((run) => run.series.step.length > 0 || run.valid.step.length > 0);
  const toggle = (name: string) => hide((before) => new Set(before.has(name) ? [...before].filter((one) => one !== name) : [...before, name]));
  const place_of = (run: TrainingRun) => runs.indexOf(run);
  return (
    <>
      <Panel title="Runs" testid="runs-panel">
        <RunTable runs={runs} hidden={hidden} toggle={toggle} />
      </Panel>
      {begun.length === 0 ? (
        <Nothing>{shown.length === 0 ? "No run is chosen; tick one in the table." : "No step has been recorded yet. Curves are shown here as soon as there are some."}</Nothing>
      ) : (
        <>
          <div class="controls">
            <Choice
              title="Across"
              testid="choice-across"
              value={across}
              options={(Object.keys(across_titles) as Across[]).map((value) => ({ value, title: across_titles[value] }))}
              on_change={set_across}
            />
          </div>
          <div class="columns">
            {units.map((unit) => {
              const of_unit = begun.filter((run) => run.unit === unit);
              return (
                of_unit.length > 0 && (
                  <Panel key={unit} title={`Loss as ${unit_names[unit]}`} testid={`loss-panel-${unit}`} wide>
                    <LossChart runs={of_unit} unit={unit} across={across} place_of={place_of} />
                  </Panel>
                )
              );
            })}
          </div>
          <div class="columns narrow">
            {small_charts.map((small) => (
              <Panel key={small.name} title={small.title} testid={`${small.name}-panel`}>
                <SmallChart runs={begun} small={small} across={across} place_of={place_of} />
              </Panel>
            ))}
          </div>
        </>
      )}
      <Panel title="What they write, as they learn" testid="samples-panel">
        <Samples runs={shown} />
      </Panel>
    </>
  );
}

interface TableProperties {
  runs: TrainingRun[];
  hidden: ReadonlySet<string>;
  toggle: (name: string) => void;
}

function RunTable({ runs, hidden, toggle }: TableProperties) {
  const colours = useColours();
  return (
    <div class="table-box">
      <table data-testid="runs">
        <thead>
          <tr>
            <th scope="col">Run</th>
            <th scope="col">State</th>
            <th scope="col">Blocks</th>
            <th scope="col">Text</th>
            <th scope="col" class="number">Parameters</th>
            <th scope="col" class="number">Best on the valid part</th>
            <th scope="col" class="number">at step</th>
            <th scope="col" class="number">Steps</th>
            <th scope="col" class="number">Time in steps</th>
          </tr>
        </thead>
        <tbody>
          {runs.map((run, place) => {
            const best = best_valid(run);
            return (
              <tr key={run.name} data-testid="run-row">
                <td>
                  <label>
                    <input type="checkbox" checked={!hidden.has(run.name)} onChange={() => toggle(run.name)} data-testid="run-shown" />{" "}
                    <span aria-hidden="true" style={{ color: turn(colours.series, place) }}>
                      {symbol_marks[turn(symbols, place)]}
                    </span>{" "}
                    <strong>{run.name}</strong>
                  </label>
                  {run.about && <span class="quiet"> {run.about}</span>}
                </td>
                <td>{run.state}</td>
                <td>
                  <code>{run.arch}</code>
                </td>
                <td title={run.text}>{run.text.split("/").at(-1)}</td>
                <td class="number">{count(run.parameters)}</td>
                <td class="number">{loss_text(run.valid.loss[best], run.unit)}</td>
                <td class="number">{best < 0 ? "–" : whole(run.valid.step[best]!)}</td>
                <td class="number">
                  {whole(last(run.series.step) ?? 0)} of {whole(run.steps)}
                </td>
                <td class="number">{seconds(last(run.series.seconds))}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
