// The device, and the time of each piece of a model on it.

import { useMemo, useState } from "preact/hooks";
import { axis_style, Chart, type ECElementEvent, type Option, tooltip_text } from "../../chart.tsx";
import type { DeviceProfile, DeviceRun } from "../../document.ts";
import { bytes, digits, milliseconds, percent, plain } from "../../format.ts";
import { letter_meaning, size_title } from "../../letters.ts";
import { Choice, type Column, Nothing, Panel, Picker, Table } from "../../parts.tsx";
import { readable_on, useColours } from "../../theme.ts";
import { cells_of, type Grouped, grouped, type Measure, measure_of, type Piece, timed_at } from "./pieces.ts";

const measure_titles: Record<Measure, string> = { ms: "time (ms)", share: "share of peak", spread: "spread" };

export function MachineView({ runs }: { runs: DeviceRun[] }) {
  const { devices } = runs[0]!;
  const [chosen, choose] = useState("0");
  const profile = devices[Number(chosen)] ?? devices[0];
  if (!profile) return <Nothing>This profile holds no device yet.</Nothing>;
  return (
    <>
      {devices.length > 1 && (
        <div class="controls">
          <Picker title="Device" testid="device-choice" value={chosen} options={devices.map((one, place) => ({ value: String(place), title: title_of(one) }))} on_change={choose} />
        </div>
      )}
      <Profile key={chosen} profile={profile} />
    </>
  );
}

function title_of({ device, pieces }: DeviceProfile): string {
  return `${device.cpu || "unknown"}, ${device.threads} threads, ${device.instructions}, ${device.products}: ${pieces.length} pieces`;
}

function Profile({ profile }: { profile: DeviceProfile }) {
  const [measure, set_measure] = useState<Measure>("ms");
  const groups = useMemo(() => grouped(profile.pieces), [profile]);
  const frames = profile.pieces
    .filter((piece) => piece.what === "frame")
    .sort((left, right) => left.backbone.localeCompare(right.backbone) || Number(left.step) - Number(right.step) || left.vocabulary! - right.vocabulary! || left.width - right.width);
  const measures: Measure[] = profile.peak_gflops ? ["ms", "share", "spread"] : ["ms", "spread"];
  return (
    <>
      <Panel title="Device" testid="device-panel">
        <Facts profile={profile} />
      </Panel>
      {profile.pieces.length === 0 ? (
        <Nothing>No piece of a model has been timed on this device yet.</Nothing>
      ) : (
        <>
          <div class="controls">
            <Choice title="Cells show" testid="choice-measure" value={measure} options={measures.map((value) => ({ value, title: measure_titles[value] }))} on_change={set_measure} />
          </div>
          <p class="about">
            {measure === "ms" && "Median time of a block: for a prompt, and for one more token after it."}
            {measure === "share" && `Floating-point operations per second, as a share of the ${plain(profile.peak_gflops)} GFLOP/s that matrix products reach here.`}
            {measure === "spread" && "From the 10th to the 90th percentile, as a share of the median: how reliable a time is."}
          </p>
          <div class="columns">
            {groups.map((group) => (
              <Panel key={`${group.backbone} ${timed_at(group)} ${group.letter}`} title={`${group.backbone}, ${timed_at(group)}: ${group.letter}, ${letter_meaning(group.letter)}`} testid="pieces-panel">
                <Pieces group={group} measure={measure} peak_gflops={profile.peak_gflops} />
              </Panel>
            ))}
          </div>
          {frames.length > 0 && (
            <Panel title="Embedding and output" testid="frames-panel">
              <Frames frames={frames} peak_gflops={profile.peak_gflops} />
            </Panel>
          )}
        </>
      )}
    </>
  );
}

function Facts({ profile }: { profile: DeviceProfile }) {
  const { device } = profile;
  const facts: [string, string][] = [
    ["processor", device.cpu],
    ["cores", `${device.cores}, ${device.allowed} allowed`],
    ["threads", `${device.threads}`],
    ["instructions", device.instructions],
    ["matrix products by", device.products],
    ["memory", bytes(device.memory)],
    ["peak of matrix products", profile.peak_gflops ? `${plain(profile.peak_gflops)} GFLOP/s with all threads` : "not measured"],
    ["pieces timed", `${profile.pieces.length}`],
  ];
  return (
    <dl class="totals" data-testid="device">
      {facts.map(([name, value]) => (
        <>
          <dt>{name}</dt>
          <dd>{value || "unknown"}</dd>
        </>
      ))}
    </dl>
  );
}

function cell_text(value: number, measure: Measure): string {
  return measure === "ms" ? digits(value, 2) : `${digits(value * 100, 2)}%`;
}

function Pieces({ group, measure, peak_gflops }: { group: Grouped; measure: Measure; peak_gflops: number | null }) {
  const colours = useColours();
  const { widths, sizes, cells } = useMemo(() => cells_of(group, measure, peak_gflops), [group, measure, peak_gflops]);
  const option = useMemo((): Option => {
    const style = axis_style(colours);
    const values = cells.map((cell) => cell[2]);
    // Times differ by powers of ten; colours use the logarithm.
    const shade = (value: number) => (measure === "ms" ? Math.log(Math.max(value, 1e-6)) : value);
    const low = Math.min(...values);
    const high = Math.max(...values);
    const span = shade(high) - shade(low) || 1;
    const colour_of = (shaded: number) => colours.ramp[Math.round(((shaded - shade(low)) / span) * (colours.ramp.length - 1))]!;
    return {
      grid: { left: 64, right: 16, top: 30, bottom: 46 },
      xAxis: { ...style, type: "category", data: widths.map(String), name: "width", nameLocation: "middle", nameGap: 28, splitLine: { show: false } },
      yAxis: {
        ...style,
        type: "category",
        data: group.size === null ? ["all"] : sizes.map(String),
        name: group.size === null ? "" : size_title(group.size),
        nameTextStyle: { color: colours.text, align: "left", padding: [0, 0, 0, -50] },
        splitLine: { show: false },
      },
      visualMap: { show: false, dimension: 2, min: shade(low), max: shade(low) + span, inRange: { color: colours.ramp } },
      tooltip: {
        formatter: (event: ECElementEvent) => {
          const piece = group.pieces[(event.value as number[])[3]!]!;
          const share = measure_of(piece, "share", peak_gflops);
          return tooltip_text([
            `width ${piece.width}${group.size ? `, ${size_title(group.size)} ${piece.sizes[group.size] ?? "?"}` : ""}`,
            `${milliseconds(piece.ms)} (${milliseconds(piece.low_ms)} to ${milliseconds(piece.high_ms)})`,
            `${digits(piece.gflop)} GFLOP${share === null ? "" : `, ${percent(share)} of the peak`}`,
            `measured ${piece.date}`,
          ]);
        },
      },
      series: [
        {
          type: "heatmap",
          data: cells.map(([x, y, value, place]) => ({ value: [x, y, shade(value), place], label: { color: readable_on(colour_of(shade(value))) } })),
          itemStyle: { borderColor: colours.surface, borderWidth: 1 },
          label: {
            show: true,
            fontSize: 10,
            formatter: (event: ECElementEvent) => cell_text(measure_value(event, cells), measure),
          },
          labelLayout: { hideOverlap: true },
        },
      ],
    };
  }, [group, widths, sizes, cells, measure, peak_gflops, colours]);
  if (cells.length === 0) return <Nothing>This is unknown for these pieces.</Nothing>;
  return (
    <Chart option={option} height={100 + 26 * Math.max(2, sizes.length)} label={`${measure_titles[measure]} by width${group.size ? ` and ${size_title(group.size)}` : ""}`} testid="pieces" />
  );
}

function measure_value(event: ECElementEvent, cells: [number, number, number, number][]): number {
  return cells[event.dataIndex]?.[2] ?? NaN;
}

function Frames({ frames, peak_gflops }: { frames: Piece[]; peak_gflops: number | null }) {
  const columns: Column<Piece>[] = [
    { title: "Backbone", cell: (piece) => piece.backbone },
    { title: "Timed at", cell: (piece) => timed_at(piece) },
    { title: "Width", number: true, cell: (piece) => piece.width },
    { title: "Embedding width", number: true, cell: (piece) => piece.embedding_width ?? "–" },
    { title: "Vocabulary (tokens)", number: true, cell: (piece) => piece.vocabulary ?? "–" },
    { title: "Time (ms)", number: true, cell: (piece) => milliseconds(piece.ms) },
    { title: "Share of peak", number: true, cell: (piece) => percent(measure_of(piece, "share", peak_gflops)) },
    { title: "Spread", number: true, cell: (piece) => percent(measure_of(piece, "spread", peak_gflops)) },
  ];
  return <Table columns={columns} rows={frames} testid="frames" label="embedding and output by width" />;
}
