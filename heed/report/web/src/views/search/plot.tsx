// The chart of a search with everything that can be dragged on it.

import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Chart, type ChartElement, type EChartsType } from "../../chart.tsx";
import { Legend } from "../../parts.tsx";
import { useColours } from "../../theme.ts";
import type { PixelBox } from "./drag.ts";
import { useDrag } from "./drag.ts";
import type { Limited, Limits } from "./filter.ts";
import { type Geometry, geometry_of, LimitLines } from "./limit_lines.tsx";
import { type Axis, extent, plane_of } from "./plane.ts";
import type { Quantity, QuantityName, Range } from "./quantities.ts";
import type { Rows } from "./rows.ts";
import { type Chosen, type Point, row_at } from "./series.ts";
import type { Settings } from "./settings.tsx";
import { type Angles, space_of } from "./space.ts";

interface Properties {
  rows: Rows;
  kept: Uint8Array;
  quantities: Quantity[];
  settings: Settings;
  limits: Limits;
  chosen: Chosen;
  set_limit: (name: Limited, value: number | null) => void;
  on_select: (row: number) => void;
  on_brush: (inside: Uint8Array) => void;
}

const height = 460;
const first_angles: Angles = { yaw: -0.6, pitch: 0.35 };
const key_turn = 0.1; // radians

export function Plot({ rows, kept, quantities, settings, limits, chosen, set_limit, on_select, on_brush }: Properties) {
  const colours = useColours();
  const element = useRef<ChartElement>(null);
  const [geometry, measure] = useState<Geometry | null>(null);
  const [angles, turn] = useState(first_angles);
  const [width, set_width] = useState(600);
  const [zoom, set_zoom] = useState<{ x: Range; y: Range } | null>(null);
  useEffect(() => set_zoom(null), [settings.x, settings.y, settings.x_scale, settings.y_scale]);

  const quantity = (name: QuantityName) => quantities.find((one) => one.name === name)!;
  const flat = settings.shape === "flat";
  const axes = useMemo(() => {
    const cost = (name: QuantityName): Axis => ({ quantity: quantity(name), logarithmic: settings.x_scale === "log" });
    const merit = (name: QuantityName): Axis => ({ quantity: quantity(name), logarithmic: settings.y_scale === "log" });
    return { x: cost(settings.x), y: merit(settings.y), latency: cost("latency"), memory: cost("memory"), score: merit("score") };
  }, [quantities, settings.x, settings.y, settings.x_scale, settings.y_scale]);
  const whole = useMemo(() => ({ x: extent(axes.x, rows.run.models), y: extent(axes.y, rows.run.models) }), [axes, rows]);
  const ranges = zoom ?? whole;
  const drawing = useMemo(() => {
    if (!flat) return space_of(rows, kept, axes, angles, { width, height }, chosen, colours);
    const third = settings.third === "none" ? null : { quantity: quantity(settings.third), shown_as: settings.third_as };
    return plane_of(rows, kept, { x: axes.x, y: axes.y, ranges, third, limit: limits[settings.x], size: { width, height } }, chosen, colours);
  }, [rows, kept, flat, axes, ranges, settings.third, settings.third_as, chosen, colours, flat ? null : angles, width, flat ? limits[settings.x] : null]);

  const chart = () => element.current?.chart;
  const on_drawn = useCallback(
    (drawn: EChartsType) => {
      set_width(drawn.getWidth());
      if (!flat) return measure(null);
      const next = geometry_of(drawn, ranges);
      measure((before) => (before && JSON.stringify(before) === JSON.stringify(next) ? before : next));
    },
    [flat, ranges],
  );
  const on_box = (box: PixelBox) => {
    const from = chart()?.convertFromPixel({ gridIndex: 0 }, [box.left, box.bottom]) as Point | undefined;
    const to = chart()?.convertFromPixel({ gridIndex: 0 }, [box.right, box.top]) as Point | undefined;
    if (!from || !to) return;
    if (settings.drag === "zoom") return set_zoom({ x: clip(from[0], to[0], ranges.x), y: clip(from[1], to[1], ranges.y) });
    const inside = new Uint8Array(rows.count);
    for (let row = 0; row < rows.count; row += 1) {
      const [x, y] = drawing.place(row);
      if (x >= from[0] && x <= to[0] && y >= from[1] && y <= to[1]) inside[row] = 1;
    }
    on_brush(inside);
  };
  const turn_by = (across: number, down: number) =>
    turn(({ yaw, pitch }) => ({ yaw: yaw + across, pitch: Math.max(-Math.PI / 2, Math.min(Math.PI / 2, pitch + down)) }));
  const box = useDrag(element, {
    kind: settings.drag === "turn" ? "turn" : "box",
    on_box,
    on_turn: (across, down) => turn_by(across * 0.01, down * 0.01),
  });
  const on_key = (event: KeyboardEvent) => {
    const turns: Record<string, [number, number]> = {
      ArrowLeft: [-key_turn, 0],
      ArrowRight: [key_turn, 0],
      ArrowUp: [0, -key_turn],
      ArrowDown: [0, key_turn],
    };
    const by = turns[event.key];
    if (flat || !by) return;
    event.preventDefault();
    turn_by(...by);
  };

  const label = flat
    ? `${axes.y.quantity.axis} against ${axes.x.quantity.axis}; the table below has the numbers`
    : `${axes.score.quantity.title}, latency and memory in three dimensions; arrow keys turn it`;
  return (
    <>
      <div
        class={`plot ${flat ? "" : "turned"}`}
        data-testid="plot"
        tabIndex={flat ? undefined : 0}
        onKeyDown={on_key}
        data-angles={flat ? undefined : `${angles.yaw.toFixed(2)} ${angles.pitch.toFixed(2)}`}
      >
        <Chart
          element={element}
          option={drawing.option}
          height={height}
          label={label}
          testid="pareto"
          on_drawn={on_drawn}
          on_pick={(event) => {
            const row = row_at(drawing.rows_by_series, event);
            if (row !== null) on_select(row);
          }}
        />
        {flat && geometry && <LimitLines chart={chart} geometry={geometry} x={axes.x} y={axes.y} limits={limits} set_limit={set_limit} />}
        {box && <div class="drag-box" style={{ left: `${box.left}px`, top: `${box.top}px`, width: `${box.right - box.left}px`, height: `${box.bottom - box.top}px` }} />}
      </div>
      <Legend
        entries={[
          ...drawing.legend,
          { colour: colours.series[1]!, mark: "◇", text: flat && settings.x === "latency" ? "measured, 10th to 90th percentile" : "measured" },
          { colour: colours.series[2]!, mark: "□", text: "baselines, measured" },
          ...(rows.run.models.some((model) => model.role === "rival") ? [{ colour: colours.series[3]!, mark: "△", text: "published arrangements of the best model's latency, measured" }] : []),
        ]}
      />
      {zoom && flat && (
        <button type="button" class="controls" data-testid="zoom-reset" onClick={() => set_zoom(null)}>
          Show all again
        </button>
      )}
    </>
  );
}

function clip(from: number, to: number, range: Range): Range {
  const low = Math.max(from, range.low);
  const high = Math.min(to, range.high);
  return low < high ? { low, high } : range;
}
