// The exchange rates of a law of worth: what one more block of each kind and size would gain in a model, and cost.

import { useMemo, useState } from "preact/hooks";
import { Chart, type ECElementEvent, grid, type Option, tooltip_text, x_axis, y_axis } from "./chart.tsx";
import type { Rates } from "./document.ts";
import { bits, count, milliseconds, plain, small } from "./format.ts";
import { letter_meaning, letter_place, sizes_text } from "./letters.ts";
import { Choice, type Column, Legend, Picker, symbol_marks, Table } from "./parts.tsx";
import { block_title, by_rate, type Cost, rate_of, type RatedBlock } from "./rates.ts";
import { letter_colour, marking, symbols, turn, useColours } from "./theme.ts";

const cost_titles: Record<Cost, string> = { ms: "time", parameters: "parameters" };
const axis_titles: Record<Cost, string> = { ms: "more time for a segment (ms)", parameters: "more parameters" };

export function ExchangeRates({ rates, role }: { rates: Rates[]; role: string }) {
  const [chosen, choose] = useState<string | null>(null);
  const [wanted, want] = useState<Cost>("ms");
  const one = rates.find((of) => of.base === chosen) ?? rates[Math.floor(rates.length / 2)]!;
  const timed = one.blocks.some((block) => block.ms !== null);
  const cost = timed ? wanted : "parameters";
  const sorted = useMemo(() => by_rate(one.blocks, cost), [one, cost]);
  return (
    <>
      <div class="controls">
        {rates.length > 1 && (
          <Picker title="In the model" testid="rates-base" value={one.base} options={rates.map((of) => ({ value: of.base, title: `${of.base}, width ${of.width}` }))} on_change={choose} />
        )}
        {timed && (
          <Choice title="Cost" testid="rates-cost" value={cost} options={(["ms", "parameters"] as const).map((value) => ({ value, title: cost_titles[value] }))} on_change={want} />
        )}
      </div>
      <p data-testid="rates-sentence">{sentence(one, sorted[0]!, cost)}</p>
      <p class="quiet">
        {one.base} is {role}: {one.arch}, width {one.width}. The law predicts {bits(one.predicted)} bits per byte for it after {count(one.tokens)} tokens. In a model with
        more blocks, one more gains less.{!timed && " No device's profile has these blocks: times are unknown."}
      </p>
      <div class="columns rates">
        <RatesChart rates={one} cost={cost} />
        <RatesTable blocks={sorted} cost={cost} />
      </div>
    </>
  );
}

function sentence(of: Rates, best: RatedBlock, cost: Cost): string {
  const gain = `One more ${best.letter} (${[letter_meaning(best.letter), ...sizes_text(best)].join(", ")}) lowers the predicted loss of ${of.base} by ${small(best.bits)} bits per byte`;
  const rate = small(rate_of(best, cost));
  if (cost === "ms" && best.ms !== null) return `${gain} and takes ${milliseconds(best.ms)}: ${rate} bits per millisecond, more than any other block here.`;
  return `${gain} with ${count(best.parameters)} parameters: ${rate} bits per million, more than any other block here.`;
}

function RatesChart({ rates, cost }: { rates: Rates; cost: Cost }) {
  const colours = useColours();
  const letters = useMemo(() => [...new Set(rates.blocks.map((block) => block.letter))].sort((left, right) => letter_place(left) - letter_place(right)), [rates]);
  const symbol = (letter: string) => turn(symbols, Math.max(0, letter_place(letter)));
  const option = useMemo((): Option => {
    const lists = letters.map((letter) => rates.blocks.filter((block) => block.letter === letter && block[cost] !== null).sort((left, right) => left[cost]! - right[cost]!));
    return {
      grid: { ...grid, right: 30 },
      xAxis: x_axis(colours, { name: axis_titles[cost], min: 0, format: cost === "ms" ? (value: number) => plain(value) : count, splitNumber: 4 }),
      yAxis: y_axis(colours, { name: "lower loss (bits per byte)", min: 0, format: (value) => plain(value) }),
      tooltip: {
        trigger: "item",
        formatter: (event: ECElementEvent) => {
          const block = lists[event.seriesIndex ?? -1]?.[event.dataIndex];
          return block ? tooltip_text(lines_of(block)) : "";
        },
      },
      series: letters.map((letter, place) => ({
        id: letter,
        name: letter,
        type: "line",
        data: lists[place]!.map((block) => [block[cost], block.bits]),
        ...marking(Math.max(0, letter_place(letter)), colours, letter_colour(letter, colours)),
        symbolSize: 10,
        showAllSymbol: true,
        lineStyle: { color: letter_colour(letter, colours), width: 1, type: "dashed", opacity: 0.6 },
      })),
    };
  }, [rates, letters, cost, colours]);
  return (
    <div>
      <Chart option={option} height={320} label={`bits per byte that one more block gains, by ${cost_titles[cost]}; the table has the numbers`} testid="rates" />
      <Legend entries={letters.map((letter) => ({ colour: letter_colour(letter, colours), mark: symbol_marks[symbol(letter)]!, text: `${letter}: ${letter_meaning(letter)}` }))} />
      <p class="quiet">Higher gains more, further left costs less.</p>
    </div>
  );
}

function lines_of(block: RatedBlock): string[] {
  const lines = [block_title(block), `lowers the loss by ${small(block.bits)} bits per byte`, `${count(block.parameters)} parameters`];
  return block.ms === null ? lines : [...lines, `${milliseconds(block.ms)}, ${small(rate_of(block, "ms"))} bits per ms`];
}

function RatesTable({ blocks, cost }: { blocks: RatedBlock[]; cost: Cost }) {
  const columns: Column<RatedBlock>[] = [
    { title: "One more", cell: (block) => block_title(block) },
    { title: cost === "ms" ? "Bits per ms" : "Bits per million", number: true, cell: (block) => small(rate_of(block, cost)) },
    { title: "Lower loss (bits)", number: true, cell: (block) => small(block.bits) },
    { title: "Time", number: true, cell: (block) => milliseconds(block.ms) },
    { title: "Parameters", number: true, cell: (block) => count(block.parameters) },
  ];
  return <Table columns={columns} rows={blocks} testid="rates-table" label="what one more block gains and costs" />;
}
