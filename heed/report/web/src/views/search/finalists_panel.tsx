// What a search has trained itself: loss against latency, over the training, and as a table.

import { useMemo } from "preact/hooks";
import type { FoundModel, SearchRun } from "../../document.ts";
import { bits, count, milliseconds, signed_bits } from "../../format.ts";
import { LearningCurves } from "../../learning_curves.tsx";
import { type Column, Panel, Table } from "../../parts.tsx";
import { is_recommended, loss_of, most_tokens, tokens_of, trained_models } from "./finalists.ts";
import { group_of, groups, LossChart } from "./finalists_chart.tsx";
import type { Rows } from "./rows.ts";

export function Finalists({ rows }: { rows: Rows }) {
  const models = useMemo(() => trained_models(rows.run.models), [rows]);
  const present = groups.filter((group) => models.some((model) => group_of(model) === group));
  const curves = useMemo(
    () => models.map((model) => ({ name: model.name, about: model.arch, group: group_of(model), moments: model.moments })),
    [models],
  );
  const with_curves = models.some((model) => model.moments.tokens.length > 1);
  if (models.length === 0) return null;
  return (
    <>
      <Panel title="Loss against latency, predicted and measured" testid="finalists-panel" wide={!with_curves}>
        <p>{tokens_text(rows.run, models)}</p>
        <LossChart rows={rows} models={models} present={present} />
      </Panel>
      {with_curves && (
        <Panel title="Learning curves" testid="finalist-curves-panel">
          <p>The loss on the valid part of the text while the search trains these models. The worse are stopped earlier.</p>
          <LearningCurves curves={curves} groups={present} testid="finalist-curves" />
        </Panel>
      )}
      <Panel title="Trained by the search" testid="trained-panel" wide>
        <TrainedTable rows={rows} models={models} />
      </Panel>
    </>
  );
}

function tokens_text(run: SearchRun, models: FoundModel[]): string {
  const most = most_tokens(models);
  const faint = models.some((model) => tokens_of(model) < most) ? "; faint: on fewer" : "";
  return `Filled: what models reached, trained on ${count(most)} tokens${faint}. Hollow: what the law predicts for them${run.train_tokens === null ? "" : ` after ${count(run.train_tokens)} tokens`}.`;
}

function TrainedTable({ rows, models }: { rows: Rows; models: FoundModel[] }) {
  const best = models.find(is_recommended);
  const columns: Column<FoundModel>[] = [
    {
      title: "Model",
      cell: (model) => (
        <>
          <strong>{model.name}</strong>
          {is_recommended(model) && <em class="tag">best</em>}
          {model.role === "rival" && <em class="tag">rival</em>}
        </>
      ),
    },
    { title: "Measured (bits per byte)", number: true, cell: (model) => bits(loss_of(model)) },
    { title: "after tokens", number: true, cell: (model) => count(tokens_of(model)) },
    { title: "compared with the best", number: true, cell: (model) => (best && tokens_of(model) === tokens_of(best) ? signed_bits(loss_of(model) - loss_of(best)) : "–") },
    { title: rows.run.train_tokens === null ? "Predicted" : `Predicted after ${count(rows.run.train_tokens)}`, number: true, cell: (model) => bits(rows.merit.of_score(model.score)) },
    { title: "Latency (ms)", number: true, cell: (model) => milliseconds(model.measured_ms) },
    { title: "Parameters", number: true, cell: (model) => count(model.total) },
    { title: "Blocks", cell: (model) => <code>{model.arch}</code> },
  ];
  return <Table columns={columns} rows={models} testid="trained" label="models that the search has trained, those trained longest first" />;
}
