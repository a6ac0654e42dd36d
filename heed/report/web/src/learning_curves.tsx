// The losses of several models over the course of their training, in bits per byte.

import { useMemo } from "preact/hooks";
import { Chart, type ECElementEvent, grid, type Option, tooltip_text, x_axis, y_axis } from "./chart.tsx";
import type { Moments } from "./document.ts";
import { bits, count, plain } from "./format.ts";
import { Legend, type LegendEntry, symbol_marks } from "./parts.tsx";
import { type Colours, marking, symbols, turn, useColours } from "./theme.ts";

// Models with the same colour and symbol.
export interface Group {
  title: string;
  place: number; // in the lists of colours and symbols
}

export interface Curve {
  name: string;
  about: string; // for the tooltip
  group: Group;
  moments: Moments;
}

export function group_legend(groups: Group[], colours: Colours): LegendEntry[] {
  return groups.map(({ title, place }) => ({ colour: turn(colours.series, place), mark: symbol_marks[turn(symbols, place)]!, text: title }));
}

export function LearningCurves({ curves, groups, testid }: { curves: Curve[]; groups: Group[]; testid: string }) {
  const colours = useColours();
  const option = useMemo(
    (): Option => ({
      grid,
      xAxis: x_axis(colours, { name: "tokens seen", min: 0, format: count, splitNumber: 4 }),
      yAxis: y_axis(colours, { name: "bits per byte", scale: true, format: (value) => plain(value) }),
      tooltip: {
        trigger: "item",
        formatter: (event: ECElementEvent) => {
          const curve = curves[event.seriesIndex ?? -1];
          const [tokens, loss] = event.value as [number, number];
          return curve ? tooltip_text([curve.name, curve.about, `${bits(loss)} bits per byte after ${count(tokens)} tokens`]) : "";
        },
      },
      series: curves.map(({ name, group, moments }) => ({
        id: name,
        type: "line",
        data: moments.tokens.map((tokens, index) => [tokens, moments.bits_per_byte[index]]),
        ...marking(group.place, colours),
        symbolSize: 7,
        showAllSymbol: true,
        lineStyle: { color: turn(colours.series, group.place), width: 1.5, opacity: 0.7 },
        emphasis: { focus: "series", lineStyle: { width: 3, opacity: 1 } },
      })),
    }),
    [curves, colours],
  );
  return (
    <>
      <Chart option={option} height={320} label="bits per byte by tokens seen, a line per model; the table has the last values" testid={testid} />
      <Legend entries={group_legend(groups, colours)} />
    </>
  );
}
