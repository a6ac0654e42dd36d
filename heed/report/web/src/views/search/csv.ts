// The rows of the table as a file.

import { model_of, name_of, arch_of, type Rows } from "./rows.ts";

// A spreadsheet treats a field that starts like a formula as one, so it is escaped.
export function field(value: string | number | null): string {
  if (value === null || (typeof value === "number" && !Number.isFinite(value))) return "";
  if (typeof value === "number") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function csv_of(rows: Rows, places: Int32Array): string {
  const lines = [`name,role,picks,blocks,${rows.merit.key},predicted_ms,measured_ms,low_ms,high_ms,memory_bytes,measured_bytes,decoder,parameters`];
  for (const row of places) {
    const model = model_of(rows, row);
    const fields = [
      name_of(rows, row),
      model?.role ?? "candidate",
      model?.picks.join("; ") ?? "",
      arch_of(rows, row),
      rows.score[row]!,
      model ? model.predicted_ms : rows.latency[row]!,
      model?.measured_ms ?? null,
      model?.low_ms ?? null,
      model?.high_ms ?? null,
      rows.memory[row]!,
      model?.measured_bytes ?? null,
      rows.decoder[row]!,
      rows.total[row]!,
    ];
    lines.push(fields.map(field).join(","));
  }
  return `${lines.join("\n")}\n`;
}

export function download(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}
