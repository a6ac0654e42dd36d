// The probabilities of all layers at a moment, and a slider over the moments.

import { useEffect, useMemo, useState } from "preact/hooks";
import { axis_style, Chart, type ECElementEvent, type Option, tooltip_text } from "../../chart.tsx";
import type { SupernetRun } from "../../document.ts";
import { percent, plain, whole } from "../../format.ts";
import { letter_meaning } from "../../letters.ts";
import { Nothing, Panel } from "../../parts.tsx";
import { type Colours, useColours, useScheme } from "../../theme.ts";
import { Timeline, useMoment } from "../../timeline.tsx";
import { moment_at, type Moment, recorded_steps } from "./course.ts";
import { Letters } from "./letters.tsx";

const frame_ms = 250;

export function Course({ run, seeds }: { run: SupernetRun; seeds: SupernetRun["seeds"] }) {
  const steps = useMemo(() => recorded_steps(seeds), [seeds]);
  const [at, move] = useMoment(steps.length);
  const [playing, play] = useState(false);
  const last = steps.length - 1;
  useEffect(() => {
    if (!playing) return undefined;
    if (at >= last) {
      play(false);
      return undefined;
    }
    const timer = setTimeout(() => move(at + 1), frame_ms);
    return () => clearTimeout(timer);
  }, [playing, at, last]);
  const moment = useMemo(() => moment_at(seeds, run.letters, steps[at] ?? 0), [seeds, run.letters, steps, at]);
  if (!moment) {
    return (
      <Panel title="Probabilities" testid="course-panel" wide>
        <Nothing>No probabilities have been recorded yet.</Nothing>
      </Panel>
    );
  }
  const start = () => {
    if (at >= last) move(0);
    play(!playing);
  };
  const stop_at = (place: number) => {
    play(false);
    move(place);
  };
  const button = (
    <button type="button" class="controls" data-testid="play" onClick={start}>
      {playing ? "Pause" : "Play"}
    </button>
  );
  return (
    <Panel title="Probabilities of the letters in each layer" testid="course-panel" wide>
      <Timeline at={at} count={steps.length} label="iteration" value={`iteration ${steps[at]}`} testid="course" move={stop_at} before={button}>
        <p data-testid="moment">
          iteration {whole(steps[at]!)}, temperature {plain(moment.temperature)}: <Letters text={moment.by_layer} testid="string" />
        </p>
      </Timeline>
      <Probabilities moment={moment} letters={run.letters} />
    </Panel>
  );
}

function Probabilities({ moment, letters }: { moment: Moment; letters: string }) {
  const colours = useColours();
  const scheme = useScheme();
  const option = useMemo(() => heat_map(moment, letters, colours, scheme === "light" ? "#ffffff" : colours.surface), [moment, letters, colours, scheme]);
  return <Chart option={option} height={110 + 34 * letters.length} label="heat map of probabilities, letters by layers" testid="probabilities" />;
}

function heat_map(moment: Moment, letters: string, colours: Colours, none: string): Option {
  const rows = Array.from(letters).reverse();
  const layers = moment.probabilities.map((_, layer) => String(layer + 1));
  const style = axis_style(colours);
  return {
    grid: { left: 60, right: 20, top: 24, bottom: 84 },
    xAxis: { ...style, type: "category", data: layers, name: "layer", nameLocation: "middle", nameGap: 26, splitLine: { show: false } },
    yAxis: { ...style, type: "category", data: rows, name: "letter", axisLabel: { ...style.axisLabel, fontSize: 14, fontWeight: "bold", color: colours.text } },
    visualMap: {
      min: 0,
      max: 1,
      precision: 2,
      orient: "horizontal",
      left: "center",
      bottom: 0,
      itemHeight: 160,
      text: ["probability 1", "0"],
      textStyle: { color: colours.quiet },
      inRange: { color: [none, colours.accent] },
    },
    tooltip: {
      formatter: (event: ECElementEvent) => {
        const [layer, row, value] = event.value as [number, number, number];
        return tooltip_text([`layer ${layer + 1}: ${rows[row]}, ${letter_meaning(rows[row]!)}`, percent(value)]);
      },
    },
    series: [
      {
        type: "heatmap",
        data: moment.probabilities.flatMap((layer, place) =>
          rows.map((letter, row) => {
            const value = layer[letters.indexOf(letter)] ?? 0;
            return { value: [place, row, value], label: { color: value > 0.6 ? none : colours.text } };
          }),
        ),
        itemStyle: { borderColor: colours.line, borderWidth: 1 },
        label: {
          show: layers.length <= 16,
          fontSize: 10,
          formatter: (event: ECElementEvent) => {
            const value = (event.value as [number, number, number])[2];
            return value >= 0.005 ? value.toFixed(2).replace(/^0/, "") : "";
          },
        },
        labelLayout: { hideOverlap: true },
      },
    ],
  };
}
