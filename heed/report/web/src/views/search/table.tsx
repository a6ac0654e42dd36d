// The models as a table. Only visible rows exist: twenty thousand would keep the browser busy for seconds.

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { bytes, count, milliseconds } from "../../format.ts";
import { Nothing } from "../../parts.tsx";
import type { Order, SortColumn } from "./filter.ts";
import { arch_of, model_of, name_of, type Rows } from "./rows.ts";
import type { Chosen } from "./series.ts";

const row_height = 30;
const rows_in_sight = 14;
const rows_around = 6;

interface Column {
  name: SortColumn;
  title: string | ((rows: Rows) => string);
  cell: (rows: Rows, row: number) => ComponentChildren;
}

const columns: Column[] = [
  { name: "name", title: "Model and blocks", cell: (rows, row) => <NameCell rows={rows} row={row} /> },
  { name: "score", title: (rows) => (rows.run.by_law ? "Predicted (bits)" : "Score"), cell: (rows, row) => rows.merit.format(rows.score[row]!) },
  {
    name: "latency",
    title: "Predicted (ms)",
    cell: (rows, row) => {
      const model = model_of(rows, row);
      return milliseconds(model ? model.predicted_ms : rows.latency[row]);
    },
  },
  { name: "measured", title: "Measured (ms)", cell: (rows, row) => milliseconds(model_of(rows, row)?.measured_ms) },
  { name: "memory", title: "Memory (MiB)", cell: (rows, row) => bytes(rows.memory[row]) },
  { name: "decoder", title: "Decoder", cell: (rows, row) => count(rows.decoder[row]) },
  { name: "total", title: "Parameters", cell: (rows, row) => count(rows.total[row]) },
];

function NameCell({ rows, row }: { rows: Rows; row: number }) {
  const model = model_of(rows, row);
  return (
    <>
      <strong>{name_of(rows, row)}</strong>
      {model && model.role !== "model" && <em class="tag">{model.role}</em>}
      {model?.picks.map((pick) => (
        <em key={pick} class="tag">
          {pick}
        </em>
      ))}
      <span class="quiet"> {arch_of(rows, row)}</span>
    </>
  );
}

interface Properties {
  rows: Rows;
  places: Int32Array;
  order: Order;
  chosen: Chosen;
  on_order: (order: Order) => void;
  on_select: (row: number) => void;
}

export function ModelTable({ rows, places, order, chosen, on_order, on_select }: Properties) {
  const box = useRef<HTMLDivElement>(null);
  const [top, scroll] = useState(0);
  useEffect(() => {
    if (box.current) box.current.scrollTop = 0;
    scroll(0);
  }, [order, places.length]);

  if (places.length === 0) return <Nothing>No model matches. Loosen a limit, or clear the box or the words.</Nothing>;
  const first = Math.max(0, Math.min(Math.floor(top / row_height) - rows_around, places.length - 1));
  const last = Math.min(places.length, first + rows_in_sight + 2 * rows_around);
  const on_key = (event: KeyboardEvent, place: number, row: number) => {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      on_select(row);
    }
    const next = place + (event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0);
    if (next === place) return;
    event.preventDefault();
    box.current?.querySelector<HTMLElement>(`[data-place="${next}"]`)?.focus();
  };
  return (
    <div ref={box} class="table-box models" style={{ maxHeight: `${row_height * (rows_in_sight + 1)}px` }} onScroll={(event) => scroll(event.currentTarget.scrollTop)}>
      <table data-testid="models" aria-rowcount={places.length + 1}>
        <thead>
          <tr>
            {columns.map((column) => (
              <Head key={column.name} rows={rows} column={column} order={order} on_order={on_order} />
            ))}
          </tr>
        </thead>
        <tbody>
          {first > 0 && <tr class="out-of-sight" style={{ height: `${first * row_height}px` }} />}
          {Array.from(places.subarray(first, last), (row, index) => {
            const place = first + index;
            return (
              <tr
                key={row}
                tabIndex={0}
                aria-rowindex={place + 2}
                aria-selected={row === chosen.selected}
                class={row === chosen.pinned ? "pinned" : undefined}
                data-testid="model-row"
                data-row={row}
                data-place={place}
                style={{ height: `${row_height}px` }}
                onClick={() => on_select(row)}
                onKeyDown={(event) => on_key(event, place, row)}
              >
                {columns.map((column) => (
                  <td key={column.name} class={column.name === "name" ? "name" : "number"}>
                    {column.cell(rows, row)}
                  </td>
                ))}
              </tr>
            );
          })}
          {last < places.length && <tr class="out-of-sight" style={{ height: `${(places.length - last) * row_height}px` }} />}
        </tbody>
      </table>
    </div>
  );
}

function Head({ rows, column, order, on_order }: { rows: Rows; column: Column; order: Order; on_order: (order: Order) => void }) {
  const active = order.column === column.name;
  const down = active ? !order.down : column.name === "score" && rows.merit.better === "more";
  return (
    <th scope="col" class={column.name === "name" ? undefined : "number"} aria-sort={active ? (order.down ? "descending" : "ascending") : "none"}>
      <button type="button" data-testid={`sort-${column.name}`} onClick={() => on_order({ column: column.name, down })}>
        {typeof column.title === "string" ? column.title : column.title(rows)}
        <span aria-hidden="true">{active ? (order.down ? " ▼" : " ▲") : ""}</span>
      </button>
    </th>
  );
}
