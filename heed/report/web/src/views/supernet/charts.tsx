// Blocks per third of the layers, and the loss over time.

import { useMemo } from "preact/hooks";
import { axis_style, Chart, type ECElementEvent, grid, type Option, tooltip_text, x_axis, y_axis } from "../../chart.tsx";
import type { SupernetRun } from "../../document.ts";
import { count, in_unit, plain, whole } from "../../format.ts";
import { letter_meaning } from "../../letters.ts";
import { type Column, Legend, Nothing, Table } from "../../parts.tsx";
import { dashes, letter_colour, turn, useColours } from "../../theme.ts";

type Seed = SupernetRun["seeds"][number];

const thirds = ["first", "middle", "last"];

// A seed has counts; all seeds together have a mean and a deviation.
interface Slice {
  letter: string;
  means: number[];
  deviations: number[] | null;
}

function slices_of(run: SupernetRun, seed: Seed | null): Slice[] {
  return Array.from(run.letters, (letter) => {
    if (seed) return { letter, means: seed.slices.map((slice) => slice[letter] ?? 0), deviations: null };
    const list = run.slices[letter] ?? [];
    return { letter, means: list.map((one) => one.mean), deviations: run.seeds.length > 1 ? list.map((one) => one.deviation) : null };
  });
}

export function Slices({ run, seed }: { run: SupernetRun; seed: Seed | null }) {
  const colours = useColours();
  const slices = useMemo(() => slices_of(run, seed), [run, seed]);
  const option = useMemo((): Option => {
    const style = axis_style(colours);
    return {
      grid,
      xAxis: { ...style, type: "category", data: thirds, name: "third of the layers", nameLocation: "middle", nameGap: 28, splitLine: { show: false } },
      yAxis: y_axis(colours, { name: seed ? "blocks" : "blocks, mean", minInterval: 1 }),
      tooltip: {
        trigger: "axis",
        formatter: (events: ECElementEvent[]) => tooltip_text([`${events[0]?.name} third`, ...events.map((event) => `${event.seriesName}: ${plain(event.value as number)}`)]),
      },
      series: slices.map((slice) => ({
        type: "bar",
        name: slice.letter,
        data: slice.means,
        barGap: "10%",
        itemStyle: { color: letter_colour(slice.letter, colours) },
        label: { show: true, position: "top", formatter: () => slice.letter, color: colours.text },
      })),
    };
  }, [slices, colours, seed]);
  if (slices.every((slice) => slice.means.length === 0)) return <Nothing>No seed has found a string yet.</Nothing>;
  const columns: Column<Slice>[] = [
    { title: "Block", cell: (slice) => `${slice.letter}, ${letter_meaning(slice.letter)}` },
    ...thirds.map((title, third): Column<Slice> => ({ title: `${title} third`, number: true, cell: (slice) => cell(slice, third) })),
  ];
  return (
    <>
      <Chart option={option} height={250} label="blocks of each letter in each third of the layers" testid="slices" />
      <Table columns={columns} rows={slices} testid="slices-table" label="blocks in each third of the layers" />
    </>
  );
}

function cell(slice: Slice, third: number): string {
  const mean = plain(slice.means[third]);
  return slice.deviations ? `${mean} ± ${plain(slice.deviations[third])}` : mean;
}

export function Losses({ run, seeds }: { run: SupernetRun; seeds: Seed[] }) {
  const colours = useColours();
  const option = useMemo(
    (): Option => ({
      grid,
      xAxis: x_axis(colours, { name: "iteration", format: count, max: run.steps > 0 ? run.steps : undefined }),
      yAxis: y_axis(colours, { name: `loss (${run.unit})`, scale: true }),
      tooltip: {
        trigger: "axis",
        formatter: (events: ECElementEvent[]) => {
          const at = (events[0]?.value as [number, number] | undefined)?.[0] ?? 0;
          return tooltip_text([`iteration ${whole(at)}`, ...events.map((event) => `${event.seriesName}: ${plain((event.value as [number, number])[1], 4)} ${run.unit}`)]);
        },
      },
      series: seeds.map((seed, index) => {
        const place = run.seeds.indexOf(seed);
        return {
          type: "line",
          name: `seed ${seed.seed}`,
          data: seed.losses.step.map((step, point) => [step, finite(in_unit(seed.losses.loss[point], run.unit))]),
          symbol: "none",
          lineStyle: { color: turn(colours.series, place), type: turn(dashes, place), width: 1.5 },
          itemStyle: { color: turn(colours.series, place) },
          markArea:
            index === 0 && run.weights_only > 0
              ? {
                  silent: true,
                  itemStyle: { color: colours.faded, opacity: 0.25 },
                  label: { show: false },
                  data: [[{ xAxis: 0 }, { xAxis: run.weights_only }]],
                }
              : undefined,
        };
      }),
    }),
    [run, seeds, colours],
  );
  if (seeds.every((seed) => seed.losses.step.length === 0)) return <Nothing>No loss has been recorded yet.</Nothing>;
  return (
    <>
      <Chart option={option} height={300} label="loss over iterations" testid="losses" />
      <Legend
        entries={[
          ...seeds.map((seed) => ({ colour: turn(colours.series, run.seeds.indexOf(seed)), mark: turn(["━", "╍", "┅"], run.seeds.indexOf(seed)), text: `seed ${seed.seed}` })),
          ...(run.weights_only > 0 ? [{ colour: colours.faded, mark: "▒", text: "trains weights only" }] : []),
        ]}
      />
    </>
  );
}

function finite(value: number): number | "-" {
  return Number.isFinite(value) ? value : "-";
}
