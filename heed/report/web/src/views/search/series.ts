// The series of both drawings, flat and turned: clouds of candidates, and marks of the few that have names.

import { type ECElementEvent, tooltip_text } from "../../chart.tsx";
import type { FoundModel } from "../../document.ts";
import { bytes, count, milliseconds } from "../../format.ts";
import type { Colours } from "../../theme.ts";
import type { Cloud } from "./clouds.ts";
import { fitting, place_labels, type Sheet } from "./labels.ts";
import { arch_of, model_of, name_of, type Rows } from "./rows.ts";

export type Point = [number, number];

// The position of a row, in units of the axes; a model's mark is where it was measured.
export interface Places {
  of_row: (row: number) => Point;
  of_model: (model: FoundModel) => Point;
}

export interface Chosen {
  selected: number | null;
  pinned: number | null;
}

// Series by id to the rows of their points, for clicks and tooltips.
export type RowsBySeries = Map<string, ArrayLike<number>>;

export function cloud_series(clouds: Cloud[], places: Places, rows_by_series: RowsBySeries) {
  return clouds.map((cloud) => {
    const data = new Float64Array(cloud.rows.length * 2);
    cloud.rows.forEach((row, place) => data.set(places.of_row(row), place * 2));
    rows_by_series.set(cloud.id, cloud.rows);
    return {
      id: cloud.id,
      type: "scatter",
      dimensions: ["x", "y"],
      data,
      large: true,
      largeThreshold: 400,
      progressive: 0,
      symbolSize: cloud.size,
      itemStyle: { color: cloud.colour, opacity: cloud.opacity },
      emphasis: { disabled: true },
      z: 2,
    };
  });
}

export function mark_series(rows: Rows, kept: Uint8Array, places: Places, sheet: Sheet, colours: Colours, rows_by_series: RowsBySeries) {
  const marks = Array.from({ length: rows.count }, (_, row) => row).flatMap((row) => {
    const model = model_of(rows, row);
    const point = model && places.of_model(model);
    if (!model || !point?.every(Number.isFinite)) return [];
    // Names of baselines differ at their end.
    const text = model.role !== "model" ? fitting(model.name, "end", sheet) : fitting(model.picks.join(", "), "beginning", sheet);
    return [{ row, point, role: model.role, text }];
  });
  const labels = place_labels(marks, marks.map((mark) => mark.point), sheet);
  const all = marks.map((mark, place) => ({ ...mark, label: labels[place] ?? null }));
  const series = (id: string, role: FoundModel["role"], symbol: string, size: number, colour: string) => {
    const own = all.filter((mark) => mark.role === role);
    rows_by_series.set(id, own.map((mark) => mark.row));
    return {
      id,
      type: "scatter",
      symbol,
      symbolSize: size,
      data: own.map(({ row, point, text, label }) => ({
        value: point,
        itemStyle: { color: colours.surface, borderColor: colour, borderWidth: 2, opacity: kept[row] ? 1 : 0.4 },
        label: label ? { ...label_style(colours), ...label, formatter: () => text } : { show: false },
      })),
      z: 5,
    };
  };
  return [series("measured", "model", "diamond", 11, colours.series[1]!), series("baselines", "baseline", "rect", 10, colours.series[2]!), series("rivals", "rival", "triangle", 11, colours.series[3]!)];
}

function label_style(colours: Colours) {
  return { show: true, opacity: 1, color: colours.text, fontSize: 11, distance: 7, textBorderColor: colours.surface, textBorderWidth: 3 };
}

export function chosen_series(rows: Rows, chosen: Chosen, places: Places, colours: Colours, rows_by_series: RowsBySeries) {
  const ring = (id: string, row: number | null, colour: string, dash: "solid" | "dotted") => {
    const model = row === null ? null : model_of(rows, row);
    const point = row === null ? null : model ? places.of_model(model) : places.of_row(row);
    const shown = point !== null && point.every(Number.isFinite);
    rows_by_series.set(id, shown ? [row!] : []);
    return {
      id,
      type: "scatter",
      symbol: "circle",
      symbolSize: 20,
      data: shown ? [point] : [],
      itemStyle: { color: "transparent", borderColor: colour, borderWidth: 3, borderType: dash },
      silent: true,
      z: 6,
    };
  };
  return [ring("selected", chosen.selected, colours.text, "solid"), ring("pinned", chosen.pinned, colours.text, "dotted")];
}

export function tooltip_of(rows: Rows, rows_by_series: RowsBySeries) {
  return {
    trigger: "item",
    formatter: (event: ECElementEvent) => {
      const row = row_at(rows_by_series, event);
      return row === null ? "" : tooltip_text(lines_of(rows, row));
    },
  };
}

export function row_at(rows_by_series: RowsBySeries, event: ECElementEvent): number | null {
  return rows_by_series.get(event.seriesId ?? "")?.[event.dataIndex] ?? null;
}

function lines_of(rows: Rows, row: number): string[] {
  const model = model_of(rows, row);
  const arch = arch_of(rows, row);
  const lines = [
    `${name_of(rows, row)}${model?.picks.length ? `: ${model.picks.join(", ")}` : ""}`,
    arch.length > 60 ? `${arch.slice(0, 59)}…` : arch,
    `${rows.merit.short} ${rows.merit.format(rows.score[row]!)}, ${count(rows.total[row])} parameters`,
  ];
  if (model?.role !== "baseline") lines.push(`predicted ${milliseconds(rows.latency[row])}, ${bytes(rows.memory[row])}`);
  if (model) lines.push(`measured ${milliseconds(model.measured_ms)} (${milliseconds(model.low_ms)} to ${milliseconds(model.high_ms)}), ${bytes(model.measured_bytes)}`);
  return lines;
}
