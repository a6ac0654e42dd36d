// The flat drawing: two quantities, their frontier as a line, and the spread of measurements.

import { grid, type Option, x_axis, y_axis } from "../../chart.tsx";
import type { FoundModel } from "../../document.ts";
import { digits } from "../../format.ts";
import type { LegendEntry } from "../../parts.tsx";
import type { Colours } from "../../theme.ts";
import { clouds_of, type Third } from "./clouds.ts";
import { front_of } from "./front.ts";
import { type Quantity, type Range, range_of, ticks, widened } from "./quantities.ts";
import type { Sheet } from "./labels.ts";
import { model_of, type Rows } from "./rows.ts";
import { chosen_series, cloud_series, mark_series, type Chosen, type Places, type Point, type RowsBySeries, tooltip_of } from "./series.ts";

export interface Axis {
  quantity: Quantity;
  logarithmic: boolean;
}

export interface Drawing {
  option: Option;
  legend: LegendEntry[];
  place: (row: number) => Point; // in units of the axes
  rows_by_series: RowsBySeries;
}

// In units of the axis, over everything that is drawn whatever the limits: axes do not change while limits move.
export function extent(axis: Axis, models: FoundModel[]): Range {
  const { quantity, logarithmic } = axis;
  const measured = models.flatMap((model) => (quantity.name === "latency" ? [model.low_ms, model.high_ms] : [quantity.measured(model)]));
  const range = range_of([quantity.values, measured], logarithmic) ?? { low: 1, high: 10 };
  return widened({ low: range.low / quantity.scale, high: range.high / quantity.scale }, logarithmic);
}

export interface PlaneSettings {
  x: Axis;
  y: Axis;
  ranges: { x: Range; y: Range };
  third: Third | null;
  limit: number | null; // across
  size: { width: number; height: number }; // of the chart, pixels
}

export function plane_of(rows: Rows, kept: Uint8Array, settings: PlaneSettings, chosen: Chosen, colours: Colours): Drawing {
  const { x, y, ranges, third, limit, size } = settings;
  const of_model = (model: FoundModel): Point => [x.quantity.measured(model) / x.quantity.scale, y.quantity.measured(model) / y.quantity.scale];
  // Only predictions are drawn against a score; trained models were also timed.
  const trained = ["ppl", "bpc", "reached"].includes(y.quantity.name);
  const of_row = (row: number): Point => {
    const model = trained ? model_of(rows, row) : null;
    return model ? of_model(model) : [x.quantity.values[row]! / x.quantity.scale, y.quantity.values[row]! / y.quantity.scale];
  };
  const places: Places = { of_row, of_model };
  const margin = { ...grid, top: 56, right: 30 };
  const inner = { width: size.width - margin.left - margin.right, height: size.height - margin.top - margin.bottom };
  const line_at = limit === null ? null : share(limit / x.quantity.scale, ranges.x, x.logarithmic) * inner.width;
  const sheet: Sheet = {
    ...inner,
    pixel: ([across, up]) => [share(across, ranges.x, x.logarithmic) * inner.width, (1 - share(up, ranges.y, y.logarithmic)) * inner.height],
    taken: [],
    lines: line_at === null ? [] : [{ left: line_at - 2, right: line_at + 2, top: 0, bottom: inner.height }],
  };
  const rows_by_series: RowsBySeries = new Map();
  const clouds = clouds_of(rows, kept, third, "with others", colours);
  const inside = Int32Array.from({ length: rows.models }, (_, row) => row).filter((row) => kept[row] === 1);
  const across = trained ? Float64Array.from({ length: rows.count }, (_, row) => of_row(row)[0]) : x.quantity.values;
  const front = front_of(inside, across, y.quantity.values, y.quantity.better);
  rows_by_series.set("front", front);
  const axis = ({ quantity, logarithmic }: Axis, range: Range, wanted: number) => {
    const values = ticks(range, logarithmic, wanted);
    return {
      name: quantity.axis,
      type: logarithmic ? "log" : "value",
      min: range.low,
      max: range.high,
      format: (value: number) => digits(value, 4),
      axisLabel: { customValues: values, hideOverlap: true },
      axisTick: { customValues: values, lineStyle: { color: colours.quiet } },
      splitLine: { show: false },
    };
  };
  const line = {
    id: "front",
    type: "line",
    step: "end",
    data: front.map(of_row),
    symbol: "circle",
    symbolSize: front.length > 200 ? 3 : 5,
    showAllSymbol: true,
    lineStyle: { color: colours.text, width: 1.5 },
    itemStyle: { color: colours.text },
    emphasis: { disabled: true },
    z: 3,
  };
  const option: Option = {
    grid: margin,
    xAxis: x_axis(colours, axis(x, ranges.x, 6)),
    yAxis: y_axis(colours, { ...axis(y, ranges.y, 6), nameGap: 32 }),
    tooltip: tooltip_of(rows, rows_by_series),
    series: [
      ...cloud_series(clouds.clouds, places, rows_by_series),
      line,
      error_bars(rows.run.models, x, places, colours),
      ...mark_series(rows, kept, places, sheet, colours, rows_by_series),
      ...chosen_series(rows, chosen, places, colours, rows_by_series),
    ],
  };
  const legend = [...clouds.legend, { colour: colours.text, mark: "⌐", text: "frontier of these two, within the limits" }];
  return { option, legend, place: of_row, rows_by_series };
}

// Parts of one line with gaps between: a separate bar series would add another chart type to the bundle.
function error_bars(models: FoundModel[], x: Axis, places: Places, colours: Colours) {
  const shown = x.quantity.name === "latency" ? models.filter((model) => places.of_model(model).every(Number.isFinite)) : [];
  return {
    id: "spread",
    type: "line",
    silent: true,
    data: shown.flatMap((model) => {
      const height = places.of_model(model)[1];
      return [[model.low_ms / x.quantity.scale, height], [model.high_ms / x.quantity.scale, height], ["-", "-"]];
    }),
    symbol: "rect",
    symbolSize: [1.5, 9],
    showAllSymbol: true,
    lineStyle: { color: colours.series[1], width: 1.5 },
    itemStyle: { color: colours.series[1] },
    z: 4,
  };
}

function share(value: number, range: Range, logarithmic: boolean): number {
  return logarithmic ? Math.log(value / range.low) / Math.log(range.high / range.low) : (value - range.low) / (range.high - range.low);
}
