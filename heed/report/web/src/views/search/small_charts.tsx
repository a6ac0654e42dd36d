// The progress of the search, and the accuracy of its predictions.

import { useMemo } from "preact/hooks";
import { Chart, type ECElementEvent, grid, type Option, tooltip_text, x_axis, y_axis } from "../../chart.tsx";
import type { SearchRun } from "../../document.ts";
import { count, digits, milliseconds, percent, plain, whole } from "../../format.ts";
import { Nothing, Panel } from "../../parts.tsx";
import { useColours } from "../../theme.ts";
import { median } from "./front.ts";
import { range_of, ticks, widened } from "./quantities.ts";

export function Progress({ run }: { run: SearchRun }) {
  const colours = useColours();
  const { evaluations, volume } = run.hypervolume;
  const option = useMemo(
    (): Option => ({
      grid,
      xAxis: x_axis(colours, { name: "models evaluated", format: count, min: 0, max: "dataMax", axisLabel: { showMaxLabel: false } }),
      yAxis: y_axis(colours, { name: "hypervolume", format: count, scale: true }),
      tooltip: { trigger: "axis", formatter: (events: ECElementEvent[]) => describe(events) },
      series: [
        {
          type: "line",
          step: "end",
          data: evaluations.map((at, place) => [at, volume[place]]),
          symbol: evaluations.length < 60 ? "circle" : "none",
          lineStyle: { color: colours.series[0], width: 2 },
          itemStyle: { color: colours.series[0] },
        },
      ],
    }),
    [run, colours],
  );
  return (
    <Panel title="Hypervolume of the frontier" testid="progress-panel">
      {evaluations.length === 0 ? (
        <Nothing>The search has recorded no progress.</Nothing>
      ) : (
        <Chart option={option} height={260} label="hypervolume over the number of evaluated models" testid="hypervolume" />
      )}
    </Panel>
  );
}

function describe(events: ECElementEvent[]): HTMLElement | string {
  const value = events[0]?.value as [number, number] | undefined;
  return value ? tooltip_text([`${whole(value[0])} models`, `hypervolume ${plain(value[1], 4)}`]) : "";
}

export function Predictions({ run }: { run: SearchRun }) {
  const colours = useColours();
  const models = run.models.filter((model) => model.predicted_ms !== null);
  const error = median(models.map((model) => Math.abs(model.predicted_ms! / model.measured_ms - 1)));
  const option = useMemo((): Option => {
    const found = range_of([models.flatMap((model) => [model.predicted_ms!, model.low_ms, model.measured_ms, model.high_ms])], true);
    const range = widened(found ?? { low: 0.1, high: 10 }, true);
    const values = ticks(range, true, 5);
    const axis = (name: string) => ({
      name,
      type: "log",
      min: range.low,
      max: range.high,
      format: (value: number) => digits(value, 3),
      axisLabel: { customValues: values },
      axisTick: { customValues: values },
      splitLine: { show: false },
    });
    return {
      grid,
      xAxis: x_axis(colours, axis("predicted (ms)")),
      yAxis: y_axis(colours, axis("measured (ms)")),
      tooltip: {
        trigger: "item",
        formatter: (event: ECElementEvent) => {
          const model = event.seriesId === "models" ? models[event.dataIndex] : undefined;
          return model ? tooltip_text([model.name, `predicted ${milliseconds(model.predicted_ms)}`, `measured ${milliseconds(model.measured_ms)}`]) : "";
        },
      },
      series: [
        {
          id: "diagonal",
          type: "line",
          silent: true,
          symbol: "none",
          data: [
            [range.low, range.low],
            [range.high, range.high],
          ],
          lineStyle: { color: colours.quiet, type: "dashed", width: 1 },
        },
        {
          id: "spread",
          type: "line",
          silent: true,
          symbol: "none",
          data: models.flatMap((model) => [[model.predicted_ms, model.low_ms], [model.predicted_ms, model.high_ms], ["-", "-"]]),
          lineStyle: { color: colours.series[1], width: 1.5 },
        },
        { id: "models", type: "scatter", symbol: "diamond", symbolSize: 9, data: models.map((model) => [model.predicted_ms, model.measured_ms]), itemStyle: { color: colours.series[1] } },
      ],
    };
  }, [run, colours]);
  return (
    <Panel title="Predicted and measured latency" testid="predictions-panel">
      {models.length === 0 ? (
        <Nothing>No model has been measured as a whole yet.</Nothing>
      ) : (
        <>
          <p data-testid="prediction-error">
            The prediction is off by {percent(error)} in the median of {models.length} models. On the dashed line it would be exact.
          </p>
          <Chart option={option} height={260} label="measured against predicted latency" testid="predictions" />
        </>
      )}
    </Panel>
  );
}
