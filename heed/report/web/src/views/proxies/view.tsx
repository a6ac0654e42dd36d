// Scores that need no training, compared with the results of training.

import { useMemo } from "preact/hooks";
import { Chart, type ECElementEvent, grid, type Option, tooltip_text, x_axis, y_axis } from "../../chart.tsx";
import type { RankingRun } from "../../document.ts";
import { count, percent, plain, seconds } from "../../format.ts";
import { type Column, Legend, Nothing, Panel, symbol_marks, Table } from "../../parts.tsx";
import { dashes, symbols, turn, useColours } from "../../theme.ts";

type Proxy = RankingRun["proxies"][number];

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
  return (
    <>
      <p class="about">
        {run.models.length} trained models, {run.proxies.length} scores. A good score falls as perplexity rises: the points go down to the right.
      </p>
      <div class="columns">
        <Panel title="Rank correlation among the best models" testid="spearman-panel">
          <ByPercent run={run} name="Spearman's coefficient" values={(proxy) => proxy.spearman_top} testid="spearman" low={-1} />
        </Panel>
        <Panel title="Best models that a score finds" testid="common-panel">
          <ByPercent run={run} name="common share" values={(proxy) => proxy.common_ratio} testid="common-ratio" low={0} />
        </Panel>
        <Panel title="Scores and what they cost" testid="costs-panel" wide>
          <Costs run={run} />
        </Panel>
        {run.proxies.map((proxy, place) => (
          <Panel key={proxy.name} title={proxy.name} testid="proxy-panel">
            <Scores run={run} proxy={proxy} place={place} />
          </Panel>
        ))}
      </div>
    </>
  );
}

interface ByPercentProperties {
  run: RankingRun;
  name: string;
  values: (proxy: Proxy) => (number | null)[];
  testid: string;
  low: number;
}

function ByPercent({ run, name, values, testid, low }: ByPercentProperties) {
  const colours = useColours();
  const option = useMemo((): Option => {
    const least = Math.min(...run.proxies.flatMap((proxy) => values(proxy).map((value) => value ?? 0)), 0);
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
      series: run.proxies.map((proxy, place) => ({
        type: "line",
        name: proxy.name,
        data: run.percents.map((at, index) => [at, values(proxy)[index] ?? null]),
        symbol: turn(symbols, place),
        symbolSize: 8,
        lineStyle: { color: turn(colours.series, place), type: turn(dashes, place), width: 2 },
        itemStyle: { color: turn(colours.series, place) },
      })),
    };
  }, [run, colours]);
  return (
    <>
      <Chart option={option} height={300} label={`${name} by share of the best models, a line per score`} testid={testid} />
      <Legend entries={run.proxies.map((proxy, place) => ({ colour: turn(colours.series, place), mark: symbol_marks[turn(symbols, place)]!, text: proxy.name }))} />
    </>
  );
}

function Costs({ run }: { run: RankingRun }) {
  const longest = Math.max(...run.proxies.map((proxy) => proxy.seconds), 1e-9);
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
  return <Table columns={columns} rows={run.proxies} testid="proxies" label="scores and what they cost" />;
}

function Scores({ run, proxy, place }: { run: RankingRun; proxy: Proxy; place: number }) {
  const colours = useColours();
  const option = useMemo(
    (): Option => ({
      grid,
      xAxis: x_axis(colours, { name: "score", scale: true, format: count, splitNumber: 4 }),
      yAxis: y_axis(colours, { name: "perplexity", scale: true }),
      tooltip: {
        trigger: "item",
        formatter: (event: ECElementEvent) => {
          const model = run.models[event.dataIndex]!;
          return tooltip_text([model.id, model.arch, `perplexity ${plain(model.perplexity, 4)}`, `score ${count(proxy.scores[event.dataIndex])}`, `${count(model.total)} parameters`]);
        },
      },
      series: [
        {
          type: "scatter",
          data: run.models.map((model, index) => [proxy.scores[index] ?? "-", model.perplexity]),
          symbol: turn(symbols, place),
          symbolSize: 7,
          itemStyle: { color: turn(colours.series, place), opacity: 0.65 },
        },
      ],
    }),
    [run, proxy, colours],
  );
  return <Chart option={option} height={240} label={`perplexity against the score ${proxy.name}`} testid="proxy-scatter" />;
}
