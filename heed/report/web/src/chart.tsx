// The lifecycle of ECharts: created with the element, resized with it, coloured by the theme, disposed.
// The element of a chart has the property `chart`, the ECharts instance: a browser test finds the pixel of a point by
//   document.querySelector("[data-testid=pareto]").chart.convertToPixel({ seriesId: "front" }, [x, y])

import { BarChart, HeatmapChart, LineChart, ScatterChart } from "echarts/charts";
import { DataZoomComponent, GridComponent, MarkAreaComponent, TooltipComponent, VisualMapComponent } from "echarts/components";
import * as echarts from "echarts/core";
import type { ECElementEvent, EChartsCoreOption, EChartsType } from "echarts/core";
import { LabelLayout } from "echarts/features";
import { CanvasRenderer } from "echarts/renderers";
import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { type Colours, still, useColours } from "./theme.ts";

echarts.use([
  BarChart,
  HeatmapChart,
  LineChart,
  ScatterChart,
  DataZoomComponent,
  GridComponent,
  MarkAreaComponent,
  TooltipComponent,
  VisualMapComponent,
  LabelLayout,
  CanvasRenderer,
]);

export type Option = EChartsCoreOption;
export type { ECElementEvent, EChartsType };

export interface ChartElement extends HTMLDivElement {
  chart?: EChartsType;
}

interface ChartProperties {
  option: Option;
  height: number;
  label: string; // for screen readers
  testid: string;
  on_pick?: (event: ECElementEvent) => void;
  on_drawn?: (chart: EChartsType) => void; // after each change and resize
  element?: RefObject<ChartElement | null>;
}

export function Chart({ option, height, label, testid, on_pick, on_drawn, element }: ChartProperties) {
  const own = useRef<ChartElement>(null);
  const target = element ?? own;
  const colours = useColours();
  const handlers = useRef({ on_pick, on_drawn });
  handlers.current = { on_pick, on_drawn };

  useLayoutEffect(() => {
    const holder = target.current!;
    const chart = echarts.init(holder, null, { renderer: "canvas" });
    holder.chart = chart;
    chart.on("click", (event) => handlers.current.on_pick?.(event as ECElementEvent));
    const observer = new ResizeObserver(() => {
      if (holder.clientWidth === 0 || matchMedia("print").matches) return;
      chart.resize();
      handlers.current.on_drawn?.(chart);
    });
    observer.observe(holder);
    const draw_now = () => chart.getZr().flush();
    addEventListener("beforeprint", draw_now);
    return () => {
      removeEventListener("beforeprint", draw_now);
      observer.disconnect();
      delete holder.chart;
      chart.dispose();
    };
  }, []);

  // Zoom belongs to the data zoom and is kept; nothing else of an earlier option may remain.
  useLayoutEffect(() => {
    const chart = target.current!.chart!;
    chart.setOption(
      { animation: false, ...option, tooltip: { ...tooltip_style(colours), ...(option.tooltip as object) } },
      { replaceMerge: ["series", "xAxis", "yAxis", "grid", "visualMap"] },
    );
    handlers.current.on_drawn?.(chart);
  }, [option, colours]);

  return <div ref={target} class="chart" role="img" aria-label={label} data-testid={testid} style={{ height: `${height}px` }} />;
}

function tooltip_style(colours: Colours) {
  return {
    confine: true,
    transitionDuration: still ? 0 : 0.1,
    backgroundColor: colours.surface,
    borderColor: colours.line,
    textStyle: { color: colours.text, fontSize: 12 },
  };
}

// The lines of a tooltip. ECharts treats strings as HTML; an element of text nodes shows names unchanged.
export function tooltip_text(lines: string[]): HTMLElement {
  const box = document.createElement("div");
  for (const line of lines) {
    const row = document.createElement("div");
    row.textContent = line;
    box.append(row);
  }
  return box;
}

export interface AxisSettings {
  name: string; // with its unit
  format?: (value: number) => string;
  [further: string]: unknown;
}

export function axis_style(colours: Colours) {
  return {
    axisLine: { show: true, onZero: false, lineStyle: { color: colours.quiet } },
    axisTick: { lineStyle: { color: colours.quiet } },
    splitLine: { lineStyle: { color: colours.line, opacity: 0.6 } },
    axisLabel: { color: colours.quiet, fontSize: 11, hideOverlap: true },
    nameTextStyle: { color: colours.text, fontSize: 12 },
  };
}

export function x_axis(colours: Colours, { name, format, ...further }: AxisSettings) {
  const style = axis_style(colours);
  return {
    type: "value",
    ...style,
    name,
    nameLocation: "middle",
    nameGap: 28,
    ...further,
    axisLabel: { ...style.axisLabel, ...(format ? { formatter: format } : {}), ...(further.axisLabel as object | undefined) },
  };
}

// The name is above the axis, so that it takes no width on a narrow page.
export function y_axis(colours: Colours, { name, format, ...further }: AxisSettings) {
  const style = axis_style(colours);
  return {
    type: "value",
    ...style,
    name,
    nameLocation: "end",
    nameGap: 12,
    ...further,
    nameTextStyle: { ...style.nameTextStyle, align: "left", padding: [0, 0, 0, -50] },
    axisLabel: { ...style.axisLabel, ...(format ? { formatter: format } : {}), ...(further.axisLabel as object | undefined) },
  };
}

export const grid = { left: 60, right: 20, top: 34, bottom: 46, containLabel: false };
