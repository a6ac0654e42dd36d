// What the law predicts for each model of the sample, fitted without it, against what the model reached.

import { useMemo } from "preact/hooks";
import { Chart, type ECElementEvent, grid, type Option, tooltip_text, x_axis, y_axis } from "../../chart.tsx";
import type { ValuedModel } from "../../document.ts";
import { bits, count, plain } from "../../format.ts";
import { type Group, group_legend } from "../../learning_curves.tsx";
import { Legend } from "../../parts.tsx";
import { marking, useColours } from "../../theme.ts";
import { kinds_in } from "./groups.ts";

// Beyond this many times the law's error a model has its name beside it.
const far_off = 2;

export function Predictions({ models, error, groups }: { models: ValuedModel[]; error: number; groups: Group[] }) {
  const colours = useColours();
  const option = useMemo((): Option => {
    const range = range_of(models, error);
    const ends = [range.low, range.high];
    const line = { type: "line", silent: true, symbol: "none" };
    return {
      grid,
      xAxis: x_axis(colours, { name: "predicted bits per byte", min: range.low, max: range.high, format: (value) => plain(value), splitNumber: 4, axisLabel: { showMinLabel: false, showMaxLabel: false } }),
      yAxis: y_axis(colours, { name: "measured bits per byte", min: range.low, max: range.high, format: (value) => plain(value), splitNumber: 4, axisLabel: { showMinLabel: false, showMaxLabel: false } }),
      tooltip: {
        trigger: "item",
        formatter: (event: ECElementEvent) => {
          const model = models.filter((one) => kinds_in(one.arch) === event.seriesId)[event.dataIndex];
          return model ? tooltip_text(lines_of(model)) : "";
        },
      },
      series: [
        // The band is what lies between two lines: ECharts stacks the second on the first, and fills below it.
        { ...line, id: "below", stack: "band", data: ends.map((at) => [at, at - error]), lineStyle: { opacity: 0 } },
        { ...line, id: "band", stack: "band", data: ends.map((at) => [at, 2 * error]), lineStyle: { opacity: 0 }, areaStyle: { color: colours.accent, opacity: 0.14 } },
        { ...line, id: "diagonal", data: ends.map((at) => [at, at]), lineStyle: { color: colours.quiet, type: "dashed", width: 1 } },
        ...groups.map(({ title, place }) => ({
          id: title,
          type: "scatter",
          ...marking(place, colours),
          symbolSize: 10,
          data: models
            .filter((model) => kinds_in(model.arch) === title)
            .map((model) => ({
              value: [model.predicted, model.measured],
              label: { show: Math.abs(model.measured - model.predicted) > far_off * error, formatter: () => model.name, position: "top", color: colours.text, fontSize: 11 },
            })),
        })),
      ],
    };
  }, [models, error, groups, colours]);
  return (
    <>
      <Chart option={option} height={320} label="measured against predicted bits per byte, a point per model; the table has the numbers" testid="worth-predictions" />
      <Legend entries={[...group_legend(groups, colours), { colour: colours.accent, mark: "▒", text: `within ${bits(error)} bits of the prediction` }, { colour: colours.quiet, mark: "╌", text: "exact prediction" }]} />
    </>
  );
}

// Both axes alike, with the band around every point in sight.
function range_of(models: ValuedModel[], error: number): { low: number; high: number } {
  const values = models.flatMap((model) => [model.predicted, model.measured]);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const margin = Math.max(error, 0.05 * (high - low), 0.01);
  return { low: low - margin, high: high + margin };
}

function lines_of(model: ValuedModel): string[] {
  return [
    `${model.name}: ${model.arch}, width ${model.width}`,
    `${count(model.parameters)} parameters, vocabulary ${model.vocabulary}`,
    `predicted ${bits(model.predicted)}, measured ${bits(model.measured)} bits per byte`,
  ];
}
