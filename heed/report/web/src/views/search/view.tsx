// A search: chart, limits, table and the chosen model, all of the same rows.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { SearchRun } from "../../document.ts";
import { ExchangeRates } from "../../exchange_rates.tsx";
import { count } from "../../format.ts";
import { Nothing, Panel } from "../../parts.tsx";
import { csv_of, download } from "./csv.ts";
import { both, type Limited, limits_of, matching, type Order, sorted, within } from "./filter.ts";
import { Finalists } from "./finalists_panel.tsx";
import { LimitInputs } from "./limits.tsx";
import { ModelPanel } from "./model_panel.tsx";
import { Plot } from "./plot.tsx";
import { quantities_of } from "./quantities.ts";
import { rows_of } from "./rows.ts";
import type { Chosen } from "./series.ts";
import { first_settings, type Settings, SettingsControls } from "./settings.tsx";
import { Predictions, Progress } from "./small_charts.tsx";
import { ModelTable } from "./table.tsx";

const nothing_chosen: Chosen = { selected: null, pinned: null };

export function SearchView({ runs }: { runs: SearchRun[] }) {
  const run = runs[0]!;
  if (run.candidates.score.length === 0 && run.models.length === 0) {
    return <Nothing>This search has no candidates {run.state === "running" ? "yet" : "on record"}. They are shown here as soon as it has evaluated some.</Nothing>;
  }
  return <Search run={run} />;
}

function Search({ run }: { run: SearchRun }) {
  const rows = useMemo(() => rows_of(run), [run]);
  const quantities = useMemo(() => quantities_of(rows), [rows]);
  const own_limits = useMemo(() => limits_of(run), [run]);
  const [settings, set_settings] = useState<Settings>(() => first_settings(rows.score));
  const [limits, set_limits] = useState(own_limits);
  const [brushed, brush] = useState<Uint8Array | null>(null);
  const [words, set_words] = useState("");
  const [order, set_order] = useState<Order>({ column: "score", down: rows.merit.better === "more" });
  const [chosen, choose] = useState(nothing_chosen);

  const kept = useMemo(() => both(within(rows, limits), brushed), [rows, limits, brushed]);
  const places = useMemo(() => sorted(rows, matching(rows, kept, words), order), [rows, kept, words, order]);
  const shown = places.reduce((sum, row) => sum + Number(row < rows.models), 0);
  const baselines = rows.count - rows.models;

  // Live changes add candidates before the measured models that are not candidates: a selection among those would
  // shift to another model, and a box would leave out new ones.
  const evaluated = useRef(run.candidates.score.length);
  useEffect(() => {
    const stays = (row: number | null) => row === null || row < evaluated.current;
    choose((before) => (stays(before.selected) && stays(before.pinned) ? before : nothing_chosen));
    if (run.candidates.score.length !== evaluated.current) brush(null);
    evaluated.current = run.candidates.score.length;
  }, [rows]);

  const set_limit = (name: Limited, value: number | null) => set_limits((before) => ({ ...before, [name]: value }));
  const select = (row: number) => choose((before) => ({ ...before, selected: row }));
  // A quantity that a live change removes must not stay on an axis.
  const safe = quantities.some((one) => one.name === settings.y) ? settings : { ...settings, y: "score" as const };
  return (
    <>
      <p class="about">
        {run.about && `${run.about}. `}
        Space {run.space}, strategy {run.strategy}; {quality_text(run)}, latency is that of a segment of {run.length} tokens.
      </p>
      <div class={chosen.pinned !== null && chosen.selected !== chosen.pinned ? "search-layout comparing" : "search-layout"}>
        <div class="main-column">
          <Panel title={run.by_law ? "Loss against cost" : "Quality against cost"} testid="pareto-panel">
            <SettingsControls settings={safe} quantities={quantities} change={(part) => set_settings((before) => ({ ...before, ...part }))} />
            <Plot rows={rows} kept={kept} quantities={quantities} settings={safe} limits={limits} chosen={chosen} set_limit={set_limit} on_select={select} on_brush={brush} />
          </Panel>
          <Panel title="Models" testid="models-panel">
            <div class="controls">
              <label class="picker">
                <span>With the words</span>
                <input type="search" placeholder="name, blocks, baseline, best" data-testid="words" value={words} onInput={(event) => set_words(event.currentTarget.value)} />
              </label>
              {brushed && (
                <button type="button" data-testid="brush-clear" onClick={() => brush(null)}>
                  Clear the box
                </button>
              )}
              <button type="button" data-testid="csv" disabled={places.length === 0} onClick={() => download("models.csv", csv_of(rows, places))}>
                Download as CSV
              </button>
            </div>
            <p role="status" class="row-count">
              <span id="row-count" data-testid="row-count" data-rows={shown} data-baselines={places.length - shown}>
                {shown} of {rows.models} models
              </span>
              {baselines > 0 && `, ${places.length - shown} of ${baselines} ${run.models.some((model) => model.role === "rival") ? "baselines and rivals" : "baselines"}`}
            </p>
            <ModelTable rows={rows} places={places} order={order} chosen={chosen} on_order={set_order} on_select={select} />
          </Panel>
        </div>
        <div class="side-column">
          <Panel title="Limits" testid="limits-panel">
            <LimitInputs quantities={quantities} limits={limits} own={own_limits} set_limit={set_limit} reset={set_limits} />
          </Panel>
          <ModelPanel rows={rows} chosen={chosen} pin={(row) => choose((before) => ({ ...before, pinned: row }))} />
        </div>
      </div>
      <div class="columns">
        <Finalists rows={rows} />
        {run.rates.length > 0 && (
          <Panel title="What one more block is worth" testid="rates-panel" wide>
            <ExchangeRates rates={run.rates} role="the recommended model" />
          </Panel>
        )}
        <Progress run={run} />
        <Predictions run={run} />
      </div>
    </>
  );
}

function quality_text(run: SearchRun): string {
  if (!run.by_law) return `the score stands for quality, by ${run.proxy}`;
  return `a law of worth predicts the loss${run.train_tokens === null ? "" : ` after a training on ${count(run.train_tokens)} tokens`}`;
}
