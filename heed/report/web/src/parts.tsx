// Small components that all views use.

import { Component, type ComponentChildren } from "preact";
import { useId } from "preact/hooks";

export function Note({ children, testid }: { children: ComponentChildren; testid?: string }) {
  return (
    <p class="note" role="note" data-testid={testid ?? "note"}>
      {children}
    </p>
  );
}

// Says that there is nothing to show, and why.
export function Nothing({ children }: { children: ComponentChildren }) {
  return (
    <p class="nothing" data-testid="nothing">
      {children}
    </p>
  );
}

interface PanelProperties {
  title: string;
  testid?: string;
  wide?: boolean;
  aside?: ComponentChildren;
  children: ComponentChildren;
}

export function Panel({ title, testid, wide, aside, children }: PanelProperties) {
  return (
    <section class={wide ? "panel wide" : "panel"} data-testid={testid}>
      <header class="panel-head">
        <h2>{title}</h2>
        {aside}
      </header>
      {children}
    </section>
  );
}

interface ChoiceProperties<Value extends string> {
  title: string;
  testid: string;
  value: Value;
  options: { value: Value; title: string }[];
  on_change: (value: Value) => void;
}

// One of a few: radio buttons that look like a switch.
export function Choice<Value extends string>({ title, testid, value, options, on_change }: ChoiceProperties<Value>) {
  const name = useId();
  return (
    <fieldset class="choice" data-testid={testid}>
      <legend>{title}</legend>
      <div class="options">
        {options.map((option) => (
          <label key={option.value} class={option.value === value ? "chosen" : undefined}>
            <input
              type="radio"
              name={name}
              value={option.value}
              checked={option.value === value}
              onChange={() => on_change(option.value)}
            />
            {option.title}
          </label>
        ))}
      </div>
    </fieldset>
  );
}

export function Picker<Value extends string>({ title, testid, value, options, on_change }: ChoiceProperties<Value>) {
  return (
    <label class="picker">
      <span>{title}</span>
      <select data-testid={testid} value={value} onChange={(event) => on_change(event.currentTarget.value as Value)}>
        {options.map((option) => (
          <option key={option.value} value={option.value} selected={option.value === value}>
            {option.title}
          </option>
        ))}
      </select>
    </label>
  );
}

export interface LegendEntry {
  colour: string;
  mark: string; // a character like the symbol that is drawn
  text: string;
}

export function Legend({ entries }: { entries: LegendEntry[] }) {
  return (
    <ul class="legend">
      {entries.map((entry) => (
        <li key={entry.text}>
          <span aria-hidden="true" style={{ color: entry.colour }}>
            {entry.mark}
          </span>
          {entry.text}
        </li>
      ))}
    </ul>
  );
}

export const symbol_marks: Record<string, string> = {
  circle: "●",
  triangle: "▲",
  rect: "■",
  diamond: "◆",
  emptyCircle: "○",
  emptyTriangle: "△",
  emptyRect: "□",
  emptyDiamond: "◇",
};

export interface Column<Row> {
  title: string;
  cell: (row: Row) => ComponentChildren;
  number?: boolean;
}

export function Table<Row>({ columns, rows, testid, label }: { columns: Column<Row>[]; rows: Row[]; testid: string; label: string }) {
  return (
    <div class="table-box" tabIndex={0} role="region" aria-label={label}>
      <table data-testid={testid}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.title} scope="col" class={column.number ? "number" : undefined}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, place) => (
            <tr key={place}>
              {columns.map((column) => (
                <td key={column.title} class={column.number ? "number" : undefined}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

// A view that fails shows a message and does not affect the rest of the page. A new `of` tries again.
export class Guard extends Component<{ of: unknown; children: ComponentChildren }, { failed: unknown; of: unknown }> {
  override state = { failed: null as unknown, of: this.props.of };

  static override getDerivedStateFromProps(next: { of: unknown }, state: { failed: unknown; of: unknown }) {
    return next.of === state.of ? null : { failed: null, of: next.of };
  }

  override componentDidCatch(error: unknown): void {
    this.setState({ failed: error ?? "unknown" });
  }

  override render() {
    const { failed } = this.state;
    if (failed === null) return this.props.children;
    const message = failed instanceof Error ? failed.message : String(failed);
    return <Note testid="failure">This part could not be shown: {message}. The data may be damaged; other parts still work.</Note>;
  }
}
