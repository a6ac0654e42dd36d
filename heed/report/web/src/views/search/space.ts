// The 3D drawing: score, latency and memory in our own orthographic projection. echarts-gl would add half a megabyte
// and WebGL and does not support ECharts 6; three axes and points need only a rotation and two flat axes.

import type { Option } from "../../chart.tsx";
import type { Colours } from "../../theme.ts";
import { clouds_of } from "./clouds.ts";
import { around, type Sheet } from "./labels.ts";
import type { Axis, Drawing } from "./plane.ts";
import { range_of, type Range } from "./quantities.ts";
import type { Rows } from "./rows.ts";
import { chosen_series, cloud_series, mark_series, type Chosen, type Places, type Point, type RowsBySeries, tooltip_of } from "./series.ts";

export interface Angles {
  yaw: number; // around the axis of the score, radians
  pitch: number;
}

export function projection({ yaw, pitch }: Angles): (x: number, y: number, z: number) => Point {
  const [cos_yaw, sin_yaw, cos_pitch, sin_pitch] = [Math.cos(yaw), Math.sin(yaw), Math.cos(pitch), Math.sin(pitch)];
  return (x, y, z) => {
    const depth = z * cos_yaw - x * sin_yaw;
    return [x * cos_yaw + z * sin_yaw, y * cos_pitch - depth * sin_pitch];
  };
}

// From values to -1 .. 1 along an edge of the cube.
function along({ logarithmic }: Axis, range: Range): (value: number) => number {
  const place = logarithmic ? Math.log : (value: number) => value;
  const low = place(range.low);
  const width = place(range.high) - low || 1;
  return (value) => (2 * (place(value) - low)) / width - 1;
}

export interface SpaceAxes {
  latency: Axis;
  score: Axis;
  memory: Axis;
}

export function space_of(rows: Rows, kept: Uint8Array, axes: SpaceAxes, angles: Angles, { width, height }: { width: number; height: number }, chosen: Chosen, colours: Colours): Drawing {
  const range = (axis: Axis) =>
    range_of([axis.quantity.values, rows.run.models.map(axis.quantity.measured)], axis.logarithmic) ?? { low: 0, high: 1 };
  const ranges = { latency: range(axes.latency), score: range(axes.score), memory: range(axes.memory) };
  const across = along(axes.latency, ranges.latency);
  const up = along(axes.score, ranges.score);
  const back = along(axes.memory, ranges.memory);
  const project = projection(angles);
  const of_row = (row: number): Point => project(across(rows.latency[row]!), up(rows.score[row]!), back(rows.memory[row]!));
  // A corner of the cube is sqrt(3) from its middle, whatever the angles; the names of the axes are outside.
  const reach = 1.95;
  const half_width = Math.max(reach, (reach * width) / height);
  const half_height = Math.max(reach, (reach * height) / width);
  const places: Places = {
    of_row,
    of_model: (model) => project(across(model.measured_ms), up(axes.score.quantity.measured(model)), back(model.planned_bytes)),
  };
  const rows_by_series: RowsBySeries = new Map();
  const clouds = clouds_of(rows, kept, null, "apart", colours);
  const axis_text = ({ quantity }: Axis, { low, high }: Range) => `${quantity.title}\n${quantity.format(low)} to ${quantity.format(high)}`;
  const ends: [Point, string][] = [
    [project(1.06, -1, -1), axis_text(axes.latency, ranges.latency)],
    [project(-1, 1.06, -1), axis_text(axes.score, ranges.score)],
    [project(-1, -1, 1.06), axis_text(axes.memory, ranges.memory)],
  ];
  const pixel = ([right, up]: Point): Point => [((right / half_width + 1) / 2) * width, ((1 - up / half_height) / 2) * height];
  const sheet: Sheet = { width, height, pixel, taken: ends.map(([point]) => around(pixel(point), 120)), lines: [] };
  const plain_axis = (half: number) => ({ type: "value", min: -half, max: half, show: false });
  const option: Option = {
    grid: { left: 4, right: 4, top: 4, bottom: 4 },
    xAxis: plain_axis(half_width),
    yAxis: plain_axis(half_height),
    tooltip: tooltip_of(rows, rows_by_series),
    series: [
      edge_series("cube", other_edges, project, colours.line, 1),
      edge_series("axes", axis_edges, project, colours.quiet, 2),
      ...cloud_series(clouds.clouds, places, rows_by_series),
      ...mark_series(rows, kept, places, sheet, colours, rows_by_series),
      ...chosen_series(rows, chosen, places, colours, rows_by_series),
      {
        id: "names of axes",
        type: "scatter",
        silent: true,
        symbolSize: 1,
        data: ends.map(([point, text]) => ({
          value: point,
          label: { show: true, formatter: () => text, color: colours.text, fontSize: 12, lineHeight: 15, position: label_side(point), align: label_anchor(point, half_width) },
        })),
        labelLayout: { hideOverlap: true },
        z: 7,
      },
    ],
  };
  return { option, legend: clouds.legend, place: of_row, rows_by_series };
}

function label_side([, height]: Point): "top" | "bottom" {
  return height > 0 ? "top" : "bottom";
}

// Labels near an edge of the chart extend towards its middle.
function label_anchor([across]: Point, half_width: number): "left" | "center" | "right" {
  if (across < -half_width / 2) return "left";
  return across > half_width / 2 ? "right" : "center";
}

type Corner = [number, number, number];
const corners: Corner[] = [-1, 1].flatMap((x) => [-1, 1].flatMap((y) => [-1, 1].map((z): Corner => [x, y, z])));
const edges = corners.flatMap((from) =>
  corners.filter((to) => to.filter((value, side) => value > from[side]!).length === 1 && to.every((value, side) => value >= from[side]!)).map((to) => [from, to] as const),
);
const at_origin = ([from]: readonly [Corner, Corner]) => from.every((value) => value === -1);
const axis_edges = edges.filter(at_origin);
const other_edges = edges.filter((edge) => !at_origin(edge));

function edge_series(id: string, list: (readonly [Corner, Corner])[], project: ReturnType<typeof projection>, colour: string, width: number) {
  return {
    id,
    type: "line",
    silent: true,
    symbol: "none",
    data: list.flatMap(([from, to]) => [project(...from), project(...to), ["-", "-"]]),
    lineStyle: { color: colour, width },
    z: 1,
  };
}
