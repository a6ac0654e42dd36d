// Loss against latency of the models that a search has trained itself: what the law predicts, and what they reached.

import { useMemo } from "preact/hooks";
import { Chart, type ECElementEvent, grid, type Option, tooltip_text, x_axis, y_axis } from "../../chart.tsx";
import type { FoundModel } from "../../document.ts";
import { bits, count, digits, milliseconds, plain } from "../../format.ts";
import { type Group, group_legend } from "../../learning_curves.tsx";
import { Legend } from "../../parts.tsx";
import { type Colours, symbols, turn, useColours } from "../../theme.ts";
import { is_recommended, loss_of, most_tokens, tokens_of } from "./finalists.ts";
import { front_of } from "./front.ts";
import { type Range, range_of, ticks } from "./quantities.ts";
import type { Rows } from "./rows.ts";

// Rivals have the same colour as in the chart of all models.
export const groups: Group[] = [
  { title: "recommended", place: 0 },
  { title: "other finalists", place: 1 },
  { title: "published arrangements", place: 3 },
];

export function group_of(model: FoundModel): Group {
  return groups[model.role === "rival" ? 2 : is_recommended(model) ? 0 : 1]!;
}

const beside = 1.15; // times the latencies of the trained models

export function LossChart({ rows, models, present }: { rows: Rows; models: FoundModel[]; present: Group[] }) {
  const colours = useColours();
  const option = useMemo(() => loss_option(rows, models, colours), [rows, models, colours]);
  return (
    <>
      <Chart option={option} height={320} label="predicted and measured bits per byte by latency; the table has the numbers" testid="finalists" />
      <Legend entries={[...group_legend(present, colours), { colour: colours.quiet, mark: "⌐", text: "predicted frontier" }]} />
    </>
  );
}

function loss_option(rows: Rows, models: FoundModel[], colours: Colours): Option {
  const most = most_tokens(models);
  const front = front_of(Int32Array.from({ length: rows.models }, (_, row) => row), rows.latency, rows.score, rows.merit.better);
  const predicted = (model: FoundModel) => rows.merit.of_score(model.score);
  // Finalists are about as slow as the limit allows: the rest of the frontier would leave them no room.
  const { low, high } = range_of([models.map((model) => model.measured_ms)], true) ?? { low: 1, high: 10 };
  return {
    grid,
    xAxis: latency_axis(rows, { low: low / beside, high: high * beside }, colours),
    yAxis: y_axis(colours, { name: "bits per byte", scale: true, format: (value) => plain(value) }),
    tooltip: {
      trigger: "item",
      formatter: (event: ECElementEvent) => {
        const model = event.seriesType === "scatter" ? models[event.dataIndex] : undefined;
        return model ? tooltip_text(lines_of(model, predicted(model))) : "";
      },
    },
    series: [
      { id: "front", type: "line", step: "end", silent: true, symbol: "none", data: front.map((row) => [rows.latency[row]!, rows.score[row]!]), lineStyle: { color: colours.quiet, width: 1.5 } },
      {
        id: "difference",
        type: "line",
        silent: true,
        symbol: "none",
        data: models.flatMap((model) => [[model.measured_ms, predicted(model)], [model.measured_ms, loss_of(model)], ["-", "-"]]),
        lineStyle: { color: colours.quiet, width: 1, type: "dotted" },
      },
      marks("predicted", models, predicted, (model) => ({ color: colours.surface, borderColor: colour_of(model, colours), borderWidth: 2, opacity: tokens_of(model) < most ? 0.4 : 1 })),
      {
        ...marks("measured", models, loss_of, (model) => ({ color: colour_of(model, colours), opacity: tokens_of(model) < most ? 0.4 : 1 })),
        label: { show: true, position: "top", color: colours.text, fontSize: 11, formatter: (event: ECElementEvent) => models[event.dataIndex]?.name ?? "" },
        labelLayout: { hideOverlap: true },
      },
    ],
  };
}

function latency_axis(rows: Rows, range: Range, colours: Colours) {
  const values = ticks(range, true, 5);
  return x_axis(colours, {
    name: `latency of ${rows.run.length} tokens (ms)`,
    type: "log",
    min: range.low,
    max: range.high,
    format: (value) => digits(value, 3),
    axisLabel: { customValues: values },
    axisTick: { customValues: values },
    splitLine: { show: false },
  });
}

function colour_of(model: FoundModel, colours: Colours): string {
  return turn(colours.series, group_of(model).place);
}

function marks(id: string, models: FoundModel[], height: (model: FoundModel) => number, style: (model: FoundModel) => object) {
  return {
    id,
    type: "scatter",
    symbolSize: 11,
    data: models.map((model) => ({ value: [model.measured_ms, height(model)], symbol: turn(symbols, group_of(model).place), itemStyle: style(model) })),
    z: 4,
  };
}

function lines_of(model: FoundModel, predicted: number): string[] {
  return [
    `${model.name}: ${model.arch}`,
    `measured ${milliseconds(model.measured_ms)}`,
    `reached ${bits(loss_of(model))} bits per byte after ${count(tokens_of(model))} tokens`,
    `predicted ${bits(predicted)}`,
  ];
}
