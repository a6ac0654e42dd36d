// What blocks are worth: how well the law predicts, how its models learned, and what one more block gains.

import { useMemo } from "preact/hooks";
import type { ValuedModel, WorthModel, WorthRun } from "../../document.ts";
import { ExchangeRates } from "../../exchange_rates.tsx";
import { bits, count, plain, signed_bits } from "../../format.ts";
import { type Curve, type Group, LearningCurves } from "../../learning_curves.tsx";
import { type Column, Nothing, Panel, Table } from "../../parts.tsx";
import { RankingPanels } from "../proxies/view.tsx";
import { groups_of, kinds_in } from "./groups.ts";
import { Predictions } from "./predictions.tsx";

export function WorthView({ runs }: { runs: WorthRun[] }) {
  const run = runs[0]!;
  if (run.models.length === 0) {
    return (
      <Nothing>
        {run.begun} of {run.planned} models have been begun. Each is shown here when it is trained, and the law when all of them are.
      </Nothing>
    );
  }
  return <Worth run={run} />;
}

function Worth({ run }: { run: WorthRun }) {
  const groups = useMemo(() => groups_of(run.models), [run]);
  const curves = useMemo(() => run.models.map((model) => curve_of(model, groups)), [run, groups]);
  const quality = run.quality;
  return (
    <>
      <p class="about">
        {run.models.length} {quality ? "" : `of ${run.planned} `}models of the space {run.space}, each trained on {count(run.tokens)} tokens{run.text && ` of ${run.text}`}. A law of what each block adds
        {quality ? " predicts" : " will predict"} their loss. Colours and symbols tell which kinds of blocks a model has.
      </p>
      <div class="columns">
        {quality && (
          <Panel title="Predicted and measured loss" testid="worth-predictions-panel">
            <p data-testid="worth-quality">
              Each model is predicted by a law fitted to the others: {bits(quality.error)} bits per byte off (root mean square, the band). Spearman's coefficient is {plain(quality.spearman)}, {plain(quality.spearman_best_fifth)} in the best fifth, and {plain(quality.spearman_larger_half)} for the larger half predicted from the smaller.
            </p>
            <Predictions models={run.models.filter((model): model is ValuedModel => model.predicted !== null)} error={quality.error ?? 0} groups={groups} />
          </Panel>
        )}
        <Panel title="Learning curves" testid="worth-curves-panel">
          <p>The loss of each model on the valid part of the text while it is trained.</p>
          <LearningCurves curves={curves} groups={groups} testid="worth-curves" />
        </Panel>
        {run.rates.length > 0 && (
          <Panel title="What one more block is worth" testid="rates-panel" wide>
            <ExchangeRates rates={run.rates} role="the median model of its width" />
          </Panel>
        )}
        <Panel title="Models" testid="worth-models-panel" wide>
          <Sample models={run.models} />
        </Panel>
      </div>
      {run.ranking && (
        <>
          <h2 class="section">Compared with scores that need no training</h2>
          <RankingPanels ranking={run.ranking} />
        </>
      )}
    </>
  );
}

function curve_of(model: WorthModel, groups: Group[]): Curve {
  const kinds = kinds_in(model.arch);
  return { name: model.name, about: `${model.arch}, width ${model.width}`, group: groups.find((group) => group.title === kinds)!, moments: model.moments };
}

const columns: Column<WorthModel>[] = [
  { title: "Model", cell: (model) => <strong>{model.name}</strong> },
  { title: "Blocks", cell: (model) => <code>{model.arch}</code> },
  { title: "Width", number: true, cell: (model) => model.width },
  { title: "Vocabulary", number: true, cell: (model) => model.vocabulary },
  { title: "Parameters", number: true, cell: (model) => count(model.parameters) },
  { title: "Measured (bits per byte)", number: true, cell: (model) => bits(model.measured) },
  { title: "Predicted", number: true, cell: (model) => bits(model.predicted) },
  { title: "Measured − predicted", number: true, cell: (model) => signed_bits(model.predicted === null ? null : model.measured - model.predicted) },
];

function Sample({ models }: { models: WorthModel[] }) {
  const sorted = models.slice().sort((left, right) => left.measured - right.measured);
  return <Table columns={columns} rows={sorted} testid="worth-models" label="models of the sample, the best first" />;
}
