// Curves of several runs. The zoom belongs to the chart and stays when live points are added.

import { useMemo } from "preact/hooks";
import { Chart, type ECElementEvent, grid, type Option, tooltip_text, x_axis, y_axis } from "../../chart.tsx";
import type { TrainingRun, Unit } from "../../document.ts";
import { digits, plain, whole } from "../../format.ts";
import { dashes, symbols, turn, useColours } from "../../theme.ts";
import { type Across, across_formats, across_titles, ceiling, loss_points, type Small, small_points, valid_points } from "./series.ts";

interface Properties {
  runs: TrainingRun[];
  across: Across;
  place_of: (run: TrainingRun) => number; // decides colour and symbol
}

function tooltip(across: Across, format: (value: number) => string) {
  return {
    trigger: "axis",
    formatter: (events: ECElementEvent[]) => {
      const at = (events[0]?.value as [number, number] | undefined)?.[0] ?? 0;
      const lines = events.flatMap((event) => {
        const value = (event.value as [number, number | "-"])[1];
        return typeof value === "number" ? [`${event.seriesName}: ${format(value)}`] : [];
      });
      return tooltip_text([`${across_titles[across]} ${across_formats[across](at)}`, ...lines]);
    },
  };
}

export function LossChart({ runs, unit, across, place_of }: Properties & { unit: Unit }) {
  const colours = useColours();
  const option = useMemo((): Option => {
    const train = runs.map((run) => loss_points(run, across));
    const valid = runs.map((run) => valid_points(run, across));
    return {
      grid: { ...grid, bottom: 92 },
      xAxis: x_axis(colours, { name: across_titles[across], format: across_formats[across], min: 0 }),
      yAxis: y_axis(colours, { name: unit, scale: true, max: ceiling([...train, ...valid]), format: (value) => digits(value), axisLabel: { showMaxLabel: false } }),
      dataZoom: [
        { id: "inside", type: "inside", zoomOnMouseWheel: "ctrl", moveOnMouseWheel: false, filterMode: "none" },
        { id: "slider", type: "slider", height: 22, bottom: 12, filterMode: "none", textStyle: { color: colours.quiet }, labelFormatter: (value: number) => across_formats[across](value) },
      ],
      tooltip: tooltip(across, (value) => `${plain(value, 4)} ${unit}`),
      series: runs.flatMap((run, index) => {
        const place = place_of(run);
        const colour = turn(colours.series, place);
        return [
          {
            id: `train ${run.name}`,
            name: `${run.name}, train`,
            type: "line",
            data: train[index],
            symbol: "none",
            sampling: "lttb",
            lineStyle: { color: colour, width: 1, opacity: 0.45 },
            itemStyle: { color: colour },
          },
          {
            id: `valid ${run.name}`,
            name: `${run.name}, valid`,
            type: "line",
            data: valid[index],
            symbol: turn(symbols, place),
            symbolSize: 8,
            showAllSymbol: true,
            lineStyle: { color: colour, width: 2, type: turn(dashes, place) },
            itemStyle: { color: colour },
            z: 4,
          },
        ];
      }),
    };
  }, [runs, unit, across, colours]);
  return (
    <>
      <p class="quiet">
        Thin: on the text it learns from. With symbols: on the valid part. The handles below the chart zoom, as do Ctrl and the wheel.
        <Thinned runs={runs} />
      </p>
      <Chart option={option} height={420} label={`loss in ${unit} by ${across_titles[across]}, a line per run`} testid={`loss-${unit}`} />
    </>
  );
}

// Long runs are thinned.
function Thinned({ runs }: { runs: TrainingRun[] }) {
  const long = runs.filter((run) => run.series.recorded > run.series.step.length);
  if (long.length === 0) return null;
  const told = long.map((run) => `${whole(run.series.step.length)} of ${whole(run.series.recorded)} steps of ${run.name}`);
  return <span data-testid="thinned"> Shown are {told.join(", ")}: the lowest and the highest values of every interval, and the last.</span>;
}

export function SmallChart({ runs, small, across, place_of }: Properties & { small: Small }) {
  const colours = useColours();
  const option = useMemo(
    (): Option => ({
      grid,
      xAxis: x_axis(colours, { name: across_titles[across], format: across_formats[across], min: 0, splitNumber: 4 }),
      yAxis: y_axis(colours, { name: small.axis, format: small.format }),
      tooltip: tooltip(across, small.format),
      series: runs.map((run) => {
        const place = place_of(run);
        return {
          id: run.name,
          name: run.name,
          type: "line",
          data: small_points(run, across, small.name),
          symbol: "none",
          sampling: "lttb",
          lineStyle: { color: turn(colours.series, place), width: 1.5, type: turn(dashes, place) },
          itemStyle: { color: turn(colours.series, place) },
        };
      }),
    }),
    [runs, small, across, colours],
  );
  return <Chart option={option} height={230} label={`${small.axis} by ${across_titles[across]}, a line per run`} testid={`small-${small.name}`} />;
}
