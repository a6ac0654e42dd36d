// Numbers as people read them, with their units. Unknown values are a dash.

import type { Unit } from "./document.ts";

type Known = number | null | undefined;

const dash = "–";

function known(value: Known): value is number {
  return value !== null && value !== undefined && Number.isFinite(value);
}

// Three significant digits, without an exponent and without trailing zeros.
export function digits(value: number, count = 3): string {
  if (value === 0) return "0";
  const whole = Math.floor(Math.log10(Math.abs(value))) + 1;
  const decimals = Math.max(0, Math.min(8, count - whole));
  const text = value.toFixed(decimals);
  return decimals > 0 ? text.replace(/\.?0+$/, "") : text;
}

const steps = [
  { size: 1e12, sign: "T" },
  { size: 1e9, sign: "B" },
  { size: 1e6, sign: "M" },
  { size: 1e3, sign: "k" },
];

// 5.72 M, 67.1 k, -2.84: parameters and scores.
export function count(value: Known): string {
  if (!known(value)) return dash;
  // 999.95 k would be rounded to "1000 k", which is hard to read.
  const step = steps.find((step) => Math.abs(value) >= step.size * 0.9995);
  return step ? `${digits(value / step.size)} ${step.sign}` : digits(value);
}

export function milliseconds(value: Known): string {
  if (!known(value)) return dash;
  const size = Math.abs(value);
  if (size === 0) return "0 ms";
  if (size < 0.9995) return `${digits(value * 1000)} µs`;
  if (size < 9995) return `${digits(value)} ms`;
  return seconds(value / 1000);
}

export function seconds(value: Known): string {
  if (!known(value)) return dash;
  if (Math.abs(value) < 120) return `${digits(value)} s`;
  if (Math.abs(value) < 7200) return `${digits(value / 60)} min`;
  return `${digits(value / 3600)} h`;
}

export function bytes(value: Known): string {
  if (!known(value)) return dash;
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let size = value;
  let unit = 0;
  while (Math.abs(size) >= 1023.5 && unit + 1 < units.length) {
    size /= 1024;
    unit += 1;
  }
  return `${digits(size)} ${units[unit]}`;
}

// Of a share: 0.031 is 3.1 %.
export function percent(share: Known): string {
  return known(share) ? `${digits(share * 100, Math.abs(share) < 0.1 ? 2 : 3)} %` : dash;
}

export function signed_percent(share: Known): string {
  return known(share) && share > 0 ? `+${percent(share)}` : percent(share);
}

export function plain(value: Known, significant = 3): string {
  return known(value) ? digits(value, significant) : dash;
}

// Bits per byte, always with three decimals, so that they can be compared in a column.
export function bits(value: Known): string {
  return known(value) ? value.toFixed(3) : dash;
}

export function signed_bits(value: Known): string {
  return known(value) && value > 0 ? `+${bits(value)}` : bits(value);
}

// Three digits; what is below any measurement is not spelled out.
export function small(value: Known): string {
  return known(value) && value > 0 && value < 0.0001 ? "< 0.0001" : plain(value);
}

// 4167 as 4,167, whatever the reader's locale: reports are to look alike everywhere.
export function whole(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ",");
}

// Losses are nats per token; over bytes or characters they are shown in bits, over words as perplexity.
export function in_unit(loss: Known, unit: Unit): number {
  if (!known(loss)) return NaN;
  return unit === "bpc" ? loss / Math.LN2 : Math.exp(loss);
}

export const unit_names: Record<Unit, string> = { bpc: "bits per character", ppl: "perplexity" };

export function loss_text(loss: Known, unit: Unit): string {
  return known(loss) ? `${digits(in_unit(loss, unit), 4)} ${unit}` : dash;
}
