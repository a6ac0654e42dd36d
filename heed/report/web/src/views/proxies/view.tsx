// Scores that need no training, compared with the results of training.

import { useMemo } from "preact/hooks";
import { Chart, type ECElementEvent, grid, type Option, tooltip_text, x_axis, y_axis } from "../../chart.tsx";
import type { Ranking, RankingRun } from "../../document.ts";
import { count, percent, plain, seconds } from "../../format.ts";
import { type Column, Legend, Nothing, Panel, symbol_marks, Table } from "../../parts.tsx";
import { dashes, marking, symbols, turn, useColours } from "../../theme.ts";

type Proxy = Ranking["proxies"][number];

export function ProxiesView({ runs }: { runs: RankingRun[] }) {
  const run = runs[0]!;
  if (run.models.length === 0 && run.state !== "empty" && run.state !== "done") {
    return (
      <Nothing>
        This ranking {run.state === "running" ? "is running" : "was stopped"}
        {run.begun > 0 && `, at model ${run.begun}`}. Scores are shown here when all models are trained.
      </Nothing>
    );
  }
  if (run.models.length === 0) return <Nothing>This ranking has no trained models to compare scores with.</Nothing>;
  if (run.proxies.length === 0) return <Nothing>No score has been computed for the {run.models.length} models of this ranking.</Nothing>;
  return <RankingPanels ranking={run} />;
}

export function RankingPanels({ ranking }: { ranking: Ranking }) {
  return (
    <>
      <p class="about">
        {ranking.models.length} trained models, {ranking.proxies.length} scores. A good score falls as perplexity rises: the points go down to the right.
      </p>
      <div class="columns">
        <Panel title="Rank correlation among the best models" testid="spearman-panel">
          <ByPercent ranking={ranking} name="Spearman's coefficient" values={(proxy) => proxy.spearman_top} testid="spearman" low={-1} />
        </Panel>
        <Panel title="Best models that a score finds" testid="common-panel">
          <ByPercent ranking={ranking} name="common share" values={(proxy) => proxy.common_ratio} testid="common-ratio" low={0} />
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
  testid: string;
  low: number;
}

function ByPercent({ ranking, name, values, testid, low }: ByPercentProperties) {
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
          const at = (events[0]?.value as [number, number] | undefined)?.[0];
          return tooltip_text([`best ${at} %`, ...events.map((event) => `${event.seriesName}: ${plain((event.value as [number, number | null])[1])}`)]);
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
    </>
  );
}

function Costs({ ranking }: { ranking: Ranking }) {
  const longest = Math.max(...ranking.proxies.map((proxy) => proxy.seconds), 1e-9);
  const columns: Column<Proxy>[] = [
    { title: "Score", cell: (proxy) => proxy.name },
    { title: "Spearman, all models", number: true, cell: (proxy) => plain(proxy.spearman) },
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
