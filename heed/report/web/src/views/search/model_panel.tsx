// One model, or two side by side.

import { useState } from "preact/hooks";
import { bits, bytes, count, loss_text, milliseconds, signed_percent } from "../../format.ts";
import { Nothing, Panel } from "../../parts.tsx";
import { Architecture } from "./architecture.tsx";
import { loss_of, tokens_of } from "./finalists.ts";
import { common } from "./fold.ts";
import { arch_of, blocks_of, frame_of, model_of, name_of, type Rows } from "./rows.ts";
import type { Chosen } from "./series.ts";

interface Properties {
  rows: Rows;
  chosen: Chosen;
  pin: (row: number | null) => void;
}

export function ModelPanel({ rows, chosen, pin }: Properties) {
  const { selected, pinned } = chosen;
  if (selected === null) {
    return (
      <Panel title="Model" testid="model-panel">
        <Nothing>Choose a point of the chart or a row of the table to see its blocks.</Nothing>
      </Panel>
    );
  }
  const compared = pinned !== null && pinned !== selected;
  const keys = (row: number) => blocks_of(rows, row).map((block) => JSON.stringify(block));
  const shared = compared ? common(keys(pinned), keys(selected)) : null;
  return (
    <Panel
      title={compared ? `${name_of(rows, pinned)} and ${name_of(rows, selected)}` : name_of(rows, selected)}
      testid="model-panel"
      aside={
        <span class="controls buttons">
          {pinned !== null && (
            <button type="button" data-testid="unpin" onClick={() => pin(null)}>
              End comparison
            </button>
          )}
          {pinned !== selected && (
            <button type="button" data-testid="pin" onClick={() => pin(selected)}>
              Compare with…
            </button>
          )}
        </span>
      }
    >
      <div aria-live="polite">
        {pinned === selected && <p class="quiet">Now choose the model to compare it with.</p>}
        {compared && <Differences rows={rows} left={pinned} right={selected} />}
        <div class={compared ? "side-by-side" : undefined}>
          {compared && <Model rows={rows} row={pinned} shared={shared!.left} titled />}
          <Model rows={rows} row={selected} shared={shared?.right ?? null} titled={compared} />
        </div>
      </div>
    </Panel>
  );
}

function Model({ rows, row, shared, titled }: { rows: Rows; row: number; shared: boolean[] | null; titled: boolean }) {
  const model = model_of(rows, row);
  return (
    <div class="model">
      {titled && <h3>{name_of(rows, row)}</h3>}
      <p>
        {arch_of(rows, row)}
        {model?.picks.map((pick) => (
          <em key={pick} class="tag">
            {pick}
          </em>
        ))}
      </p>
      <dl class="totals" data-testid="totals">
        <dt>{rows.run.by_law ? rows.merit.title : `score, ${rows.run.proxy}`}</dt>
        <dd>{rows.merit.format(rows.score[row]!)}</dd>
        {model && tokens_of(model) > 0 && (
          <>
            <dt>bits per byte, measured</dt>
            <dd>
              {bits(loss_of(model))} after {count(tokens_of(model))} tokens
            </dd>
          </>
        )}
        <dt>latency, predicted</dt>
        <dd>{milliseconds(model ? model.predicted_ms : rows.latency[row])}</dd>
        {model && (
          <>
            <dt>latency, measured</dt>
            <dd>
              {milliseconds(model.measured_ms)} ({milliseconds(model.low_ms)} to {milliseconds(model.high_ms)})
            </dd>
          </>
        )}
        <dt>memory, planned</dt>
        <dd>{bytes(rows.memory[row])}</dd>
        {model && (
          <>
            <dt>memory, measured</dt>
            <dd>{bytes(model.measured_bytes)}</dd>
          </>
        )}
        <dt>parameters</dt>
        <dd>
          {count(rows.total[row])}, {count(rows.decoder[row])} in the decoder
        </dd>
        {model?.trained.map((one) => (
          <>
            <dt>trained as {one.run}</dt>
            <dd>{loss_text(one.loss, one.unit)} on the valid part</dd>
          </>
        ))}
      </dl>
      <Architecture blocks={blocks_of(rows, row)} frame={frame_of(rows, row)} shared={shared} />
      <Command text={model?.train || training_command(rows, row)} />
    </div>
  );
}

// Quoted for a shell.
function shell_word(word: string): string {
  return /^[\w./][\w./+,:@%-]*$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function training_command(rows: Rows, row: number): string {
  const { path, candidates } = rows.run;
  return `heed train ${shell_word(`${path}:${candidates.key[row] ?? ""}`)} --data TEXT -o ${shell_word(`${path}-${row + 1}`)}`;
}

function Command({ text }: { text: string }) {
  const [state, change] = useState<"" | "copied" | "not allowed; select the text">("");
  // In some browsers pages opened from a file have no clipboard.
  const copy = () => {
    const done = navigator.clipboard?.writeText(text) ?? Promise.reject(new Error("no clipboard"));
    done.then(
      () => change("copied"),
      () => change("not allowed; select the text"),
    );
  };
  return (
    <div class="command">
      <p class="quiet">This trains it:</p>
      <code data-testid="train-command">{text}</code>
      <button type="button" class="controls" data-testid="copy" onClick={copy}>
        Copy
      </button>
      <span role="status" class="quiet">
        {state}
      </span>
    </div>
  );
}

function Differences({ rows, left, right }: { rows: Rows; left: number; right: number }) {
  const lines: { title: string; values: Float64Array; format: (value: number) => string }[] = [
    { title: rows.merit.short, values: rows.score, format: rows.merit.format },
    { title: "latency", values: rows.latency, format: milliseconds },
    { title: "memory", values: rows.memory, format: bytes },
    { title: "decoder (parameters)", values: rows.decoder, format: count },
    { title: "total (parameters)", values: rows.total, format: count },
  ];
  return (
    <div class="table-box">
      <table data-testid="differences">
        <thead>
          <tr>
            <th scope="col">quantity</th>
            <th scope="col" class="number">
              {name_of(rows, left)}
            </th>
            <th scope="col" class="number">
              {name_of(rows, right)}
            </th>
            <th scope="col" class="number">
              difference
            </th>
          </tr>
        </thead>
        <tbody>
          {lines.map(({ title, values, format }) => (
            <tr key={title}>
              <td>{title}</td>
              <td class="number">{format(values[left]!)}</td>
              <td class="number">{format(values[right]!)}</td>
              <td class="number">{signed_percent((values[right]! - values[left]!) / Math.abs(values[left]!))}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
