// Limits as draggable lines over the chart. An unset limit is at the edge, where it excludes nothing.
// They are elements, not ECharts graphics: fingers get a wide handle, and tests a name. Keyboards use the inputs.
// Lines are drawn behind the chart, where they cover no label; their handles are in front of it.

import type { EChartsType } from "../../chart.tsx";
import type { Limited, Limits } from "./filter.ts";
import { nice } from "./limits.tsx";
import type { Axis } from "./plane.ts";
import type { Range } from "./quantities.ts";

export interface Geometry {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

export function geometry_of(chart: EChartsType, ranges: { x: Range; y: Range }): Geometry {
  const low = chart.convertToPixel({ gridIndex: 0 }, [ranges.x.low, ranges.y.low]) as unknown as [number, number];
  const high = chart.convertToPixel({ gridIndex: 0 }, [ranges.x.high, ranges.y.high]) as unknown as [number, number];
  return { left: low[0], bottom: low[1], right: high[0], top: high[1] };
}

interface Properties {
  chart: () => EChartsType | undefined;
  geometry: Geometry;
  x: Axis;
  y: Axis;
  limits: Limits;
  set_limit: (name: Limited, value: number | null) => void;
}

export function LimitLines({ chart, geometry, x, y, limits, set_limit }: Properties) {
  const drawn = chart();
  if (!drawn) return null;
  const { left, right, top, bottom } = geometry;
  const clamp = (pixel: number, low: number, high: number) => Math.max(low, Math.min(high, pixel));
  const pixel = (side: 0 | 1, axis: Axis, value: number): number => {
    const scaled = value / axis.quantity.scale;
    if (axis.logarithmic && scaled <= 0) return side === 0 ? left : bottom;
    return (side === 0 ? drawn.convertToPixel({ xAxisIndex: 0 }, scaled) : drawn.convertToPixel({ yAxisIndex: 0 }, scaled)) as number;
  };

  const across = x.quantity.name as Limited;
  const x_limit = limits[across];
  const x_pixel = x_limit === null ? right : clamp(pixel(0, x, x_limit), left, right);
  const follow_x = (event: PointerEvent, origin: DOMRect) => {
    const place = event.clientX - origin.left;
    const value = drawn.convertFromPixel({ xAxisIndex: 0 }, clamp(place, left, right)) as number;
    set_limit(across, place >= right ? null : nice(value * x.quantity.scale, x.quantity));
  };

  // A score is limited from below, a loss from above.
  const y_limit = limits.score;
  const at_least = y.quantity.better === "more";
  const resting = at_least ? bottom : top;
  const y_pixel = y_limit === null ? resting : clamp(pixel(1, y, y_limit), top, bottom);
  const follow_y = (event: PointerEvent, origin: DOMRect) => {
    const place = event.clientY - origin.top;
    const value = drawn.convertFromPixel({ yAxisIndex: 0 }, clamp(place, top, bottom)) as number;
    const outside = at_least ? place >= bottom : place <= top;
    set_limit("score", outside ? null : nice(value * y.quantity.scale, y.quantity));
  };

  const x_text = x_limit === null ? `no limit on ${x.quantity.title}` : `${x.quantity.title} ≤ ${x.quantity.format(x_limit)}`;
  const x_style = { left: `${x_pixel}px`, top: `${top - 8}px`, height: `${bottom - top + 8}px` };
  const y_style = { top: `${y_pixel}px`, left: `${left}px`, width: `${right - left + 8}px` };
  const text_style = x_pixel > (left + right) / 2 ? { right: `calc(100% - ${x_pixel + 10}px)` } : { left: `${x_pixel - 10}px` };
  const limits_score = y.quantity.name === "score";
  return (
    <>
      <div class="limit-lines behind" aria-hidden="true">
        <div class={`line vertical ${x_limit === null ? "parked" : ""}`} style={x_style} />
        {limits_score && <div class={`line horizontal ${y_limit === null ? "parked" : ""}`} style={y_style} />}
      </div>
      <div class="limit-lines" aria-hidden="true">
        <div class="grip vertical" data-testid={`limit-line-${across}`} style={x_style} onPointerDown={(event) => drag(event, follow_x)} />
        <span class="limit-text" style={{ ...text_style, top: `${top - 26}px` }}>
          {x_text}
        </span>
        {limits_score && (
          <div
            class="grip horizontal"
            data-testid="limit-line-score"
            title={`${y.quantity.title} ${at_least ? "at least" : "at most"} ${y_limit === null ? (at_least ? ": drag up" : ": drag down") : y.quantity.format(y_limit)}`}
            style={y_style}
            onPointerDown={(event) => drag(event, follow_y)}
          />
        )}
      </div>
    </>
  );
}

function drag(event: PointerEvent & { currentTarget: HTMLElement }, follow: (event: PointerEvent, origin: DOMRect) => void): void {
  event.preventDefault();
  event.stopPropagation();
  const handle = event.currentTarget;
  const origin = handle.parentElement!;
  handle.setPointerCapture(event.pointerId);
  const move = (moved: PointerEvent) => follow(moved, origin.getBoundingClientRect());
  const end = () => {
    handle.removeEventListener("pointermove", move);
    handle.removeEventListener("pointerup", end);
    handle.removeEventListener("pointercancel", end);
  };
  handle.addEventListener("pointermove", move);
  handle.addEventListener("pointerup", end);
  handle.addEventListener("pointercancel", end);
}
