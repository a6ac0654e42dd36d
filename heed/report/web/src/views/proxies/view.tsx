// Scores that need no training, compared with the results of training.

import { useMemo } from "preact/hooks";
import { Chart, type ECElementEvent, grid, type Option, tooltip_text, x_axis, y_axis } from "../../chart.tsx";
import type { Interval, Ranking, RankingRun } from "../../document.ts";
import { count, percent, plain, seconds } from "../../format.ts";
import { type Column, Legend, Note, Nothing, Panel, symbol_marks, Table } from "../../parts.tsx";
import { dashes, marking, symbols, turn, useColours } from "../../theme.ts";
import { few_models, models_at, with_interval } from "./intervals.ts";

type Proxy = Ranking["proxies"][number];

export function ProxiesView({ runs }: { runs: RankingRun[] }) {
  const run = runs[0]!;
  if (run.models.length === 0 && run.state !== "empty" && run.state !== "done") {
    return (
      <Nothing>
        This ranking {run.state === "running" ? "is running" : "was stopped"}
        {run.begun > 0 && `, at model ${run.begun}`}. Scores are shown here when all models are trained and scored.
      </Nothing>
    );
  }
  if (run.models.length === 0) return <Nothing>This ranking has no trained models to compare scores with.</Nothing>;
  if (run.proxies.length === 0) return <Nothing>No score has been computed for the {run.models.length} models of this ranking.</Nothing>;
  return <RankingPanels ranking={run} />;
}

export function RankingPanels({ ranking }: { ranking: Ranking }) {
  const few = few_models(ranking);
  return (
    <>
      <p class="about">
        {ranking.models.length} trained models, {ranking.proxies.length} scores. A good score falls as perplexity rises: the points go down to the right.
      </p>
      {few && <Note testid="few-models">{few}</Note>}
      <div class="columns">
        <Panel title="Rank correlation among the best models" testid="spearman-panel">
          <ByPercent ranking={ranking} name="Spearman's coefficient" values={(proxy) => proxy.spearman_top} intervals={(proxy) => proxy.spearman_intervals} testid="spearman" low={-1} />
        </Panel>
        <Panel title="Best models that a score finds" testid="common-panel">
          <ByPercent ranking={ranking} name="common share" values={(proxy) => proxy.common_ratio} intervals={(proxy) => proxy.common_ratio_intervals} testid="common-ratio" low={0} />
        </Panel>
        <Panel title="Scores and what they cost" testid="costs-panel" wide>
          <Costs ranking={ranking} />
        </Panel>
        {ranking.proxies.map((proxy, place) => (
          <Panel key={proxy.name} title={proxy.name} testid="proxy-panel">
            <Scores ranking={ranking} proxy={proxy} place={place} />
          </Panel>
        ))}
      </div>
    </>
  );
}

interface ByPercentProperties {
  ranking: Ranking;
  name: string;
  values: (proxy: Proxy) => (number | null)[];
  intervals: (proxy: Proxy) => Interval[] | undefined;
  testid: string;
  low: number;
}

function ByPercent({ ranking, name, values, intervals, testid, low }: ByPercentProperties) {
  const colours = useColours();
  const option = useMemo((): Option => {
    const least = Math.min(...ranking.proxies.flatMap((proxy) => values(proxy).map((value) => value ?? 0)), 0);
    return {
      grid,
      xAxis: x_axis(colours, { name: "best models by perplexity (%)", min: 0, max: 100 }),
      yAxis: y_axis(colours, { name, min: least < 0 ? low : 0, max: 1 }),
      tooltip: {
        trigger: "axis",
        formatter: (events: ECElementEvent[]) => {
          const place = events[0]?.dataIndex ?? 0;
          const coefficients = ranking.proxies.map((proxy) => `${proxy.name}: ${with_interval(values(proxy)[place], intervals(proxy)?.[place])}`);
          return tooltip_text([`best ${ranking.percents[place]} %: ${models_at(ranking, place)} models`, ...coefficients]);
        },
      },
      series: ranking.proxies.map((proxy, place) => ({
        type: "line",
        name: proxy.name,
        data: ranking.percents.map((at, index) => [at, values(proxy)[index] ?? null]),
        ...marking(place, colours),
        symbolSize: 8,
        lineStyle: { color: turn(colours.series, place), type: turn(dashes, place), width: 2 },
      })),
    };
  }, [ranking, colours]);
  return (
    <>
      <Chart option={option} height={300} label={`${name} by share of the best models, a line per score`} testid={testid} />
      <Legend entries={ranking.proxies.map((proxy, place) => ({ colour: turn(colours.series, place), mark: symbol_marks[turn(symbols, place)]!, text: proxy.name }))} />
      <Coefficients ranking={ranking} values={values} intervals={intervals} testid={`${testid}-table`} label={`${name}, with intervals of 95 % of bootstrap samples`} />
    </>
  );
}

type CoefficientsProperties = Pick<ByPercentProperties, "ranking" | "values" | "intervals" | "testid"> & { label: string };

function Coefficients({ ranking, values, intervals, testid, label }: CoefficientsProperties) {
  const columns: Column<number>[] = [
    { title: "Best", number: true, cell: (place) => `${ranking.percents[place]} %` },
    { title: "Models", number: true, cell: (place) => models_at(ranking, place) },
    ...ranking.proxies.map((proxy) => ({
      title: proxy.name,
      number: true,
      cell: (place: number) => with_interval(values(proxy)[place], intervals(proxy)?.[place]),
    })),
  ];
  return <Table columns={columns} rows={ranking.percents.map((_, place) => place)} testid={testid} label={label} />;
}

function Costs({ ranking }: { ranking: Ranking }) {
  const longest = Math.max(...ranking.proxies.map((proxy) => proxy.seconds), 1e-9);
  const columns: Column<Proxy>[] = [
    { title: "Score", cell: (proxy) => proxy.name },
    { title: "Spearman, all models", number: true, cell: (proxy) => with_interval(proxy.spearman, proxy.spearman_intervals?.at(-1)) },
    { title: "Frontier's distance", number: true, cell: (proxy) => percent(proxy.distance) },
    { title: "Time for all models (s)", number: true, cell: (proxy) => seconds(proxy.seconds) },
    {
      title: "of the slowest",
      cell: (proxy) => (
        <span class="bar">
          <span style={{ width: `${(100 * proxy.seconds) / longest}%`, background: "var(--accent)" }} />
        </span>
      ),
    },
  ];
  return <Table columns={columns} rows={ranking.proxies} testid="proxies" label="scores and what they cost" />;
}

function Scores({ ranking, proxy, place }: { ranking: Ranking; proxy: Proxy; place: number }) {
  const colours = useColours();
  const option = useMemo(
    (): Option => ({
      grid,
      xAxis: x_axis(colours, { name: "score", scale: true, format: count, splitNumber: 4 }),
      yAxis: y_axis(colours, { name: "perplexity", scale: true }),
      tooltip: {
        trigger: "item",
        formatter: (event: ECElementEvent) => {
          const model = ranking.models[event.dataIndex]!;
          return tooltip_text([model.id, model.arch, `perplexity ${plain(model.perplexity, 4)}`, `score ${count(proxy.scores[event.dataIndex])}`, `${count(model.total)} parameters`]);
        },
      },
      series: [
        {
          type: "scatter",
          data: ranking.models.map((model, index) => [proxy.scores[index] ?? "-", model.perplexity]),
          ...marking(place, colours),
          symbolSize: 7,
        },
      ],
    }),
    [ranking, proxy, colours],
  );
  return <Chart option={option} height={240} label={`perplexity against the score ${proxy.name}`} testid="proxy-scatter" />;
}
