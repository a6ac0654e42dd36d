// Colours for HTML and canvas: style.css has them as variables of the same names.

import { createContext, options } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import { letter_place } from "./letters.ts";

export type Scheme = "light" | "dark";

export interface Colours {
  page: string;
  surface: string;
  text: string;
  quiet: string; // secondary text
  line: string;
  accent: string;
  warning: string;
  faded: string; // points outside the limits
  // Okabe and Ito's palette, distinguishable with any colour vision; symbols and dashes differ as well.
  series: string[];
  ramp: string[]; // viridis, from low to high, without the end that is too close to the background
}

const light: Colours = {
  page: "#f6f6f3",
  surface: "#ffffff",
  text: "#1d2326",
  quiet: "#59636a",
  line: "#d5d8d6",
  accent: "#0068a8",
  warning: "#a34700",
  faded: "#b9bfc2",
  series: ["#0072b2", "#d55e00", "#008a64", "#b8578f", "#a87900", "#3f9bd0", "#5b5f97", "#59636a"],
  ramp: ["#b5c92a", "#5bb85f", "#2a9d86", "#2e7a8d", "#3f5488", "#440f58"],
};

const dark: Colours = {
  page: "#14181b",
  surface: "#1d2327",
  text: "#e8ebea",
  quiet: "#a3adb2",
  line: "#3b444a",
  accent: "#5cb8f2",
  warning: "#f0a35e",
  faded: "#4b555b",
  series: ["#4aa8e0", "#f0803c", "#2cc39a", "#e08dbd", "#e6b422", "#9bd3f5", "#a7abe6", "#a3adb2"],
  ramp: ["#5b63a8", "#3d87a0", "#2ba38c", "#57bd68", "#a6d33f", "#fde725"],
};

export const colours_of: Record<Scheme, Colours> = { light, dark };

export const symbols = ["circle", "triangle", "rect", "diamond", "emptyCircle", "emptyTriangle", "emptyRect", "emptyDiamond"];
export const dashes: ("solid" | "dashed" | "dotted")[] = ["solid", "dashed", "dotted"];

// Symbol and colour of the series at this place. ECharts fills its own empty symbols with white, also on a dark page.
export function marking(place: number, colours: Colours, colour = turn(colours.series, place)) {
  const symbol = turn(symbols, place);
  const hollow = symbol.startsWith("empty");
  return {
    symbol: hollow ? symbol.slice("empty".length).toLowerCase() : symbol,
    itemStyle: hollow ? { color: colours.surface, borderColor: colour, borderWidth: 2 } : { color: colour },
  };
}

// The same letter has the same colour in every view.
export function letter_colour(letter: string, colours: Colours): string {
  const place = letter_place(letter);
  return place < 0 ? colours.quiet : turn(colours.series, place);
}

// Text on a coloured cell.
export function readable_on(colour: string): string {
  const part = (place: number) => parseInt(colour.slice(place, place + 2), 16) / 255;
  return 0.3 * part(1) + 0.59 * part(3) + 0.11 * part(5) > 0.5 ? light.text : light.surface;
}

export function turn<T>(list: readonly T[], place: number): T {
  return list[place % list.length]!;
}

const Theme = createContext<Scheme>("light");
export const ThemeProvider = Theme.Provider;

export function useScheme(): Scheme {
  return useContext(Theme);
}
export function useColours(): Colours {
  return colours_of[useScheme()];
}

export const still = matchMedia("(prefers-reduced-motion: reduce)").matches;

const prefers_dark = matchMedia("(prefers-color-scheme: dark)");
const printing = matchMedia("print");
const kept_under = "heed-report-scheme";

// A page opened from a file may have no access to storage.
function kept_scheme(): Scheme | null {
  try {
    const kept = localStorage.getItem(kept_under);
    return kept === "light" || kept === "dark" ? kept : null;
  } catch {
    return null;
  }
}
function keep_scheme(scheme: Scheme): void {
  try {
    localStorage.setItem(kept_under, scheme);
  } catch {
    return;
  }
}

// A browser prints the page as it is when the listener returns, so it cannot wait for a frame.
function at_once(change: () => void): void {
  const usual = options.debounceRendering;
  options.debounceRendering = (render) => render();
  change();
  options.debounceRendering = usual;
}

// The reader's switch, or else what the system prefers; paper is always light.
export function useSchemeChoice(): [Scheme, () => void] {
  const [chosen, choose] = useState<Scheme | null>(kept_scheme);
  const [preferred, prefer] = useState<Scheme>(prefers_dark.matches ? "dark" : "light");
  const [on_paper, put_on_paper] = useState(printing.matches);
  useEffect(() => {
    const on_preference = () => prefer(prefers_dark.matches ? "dark" : "light");
    const on_media = () => at_once(() => put_on_paper(printing.matches));
    const before = () => at_once(() => put_on_paper(true));
    const after = () => put_on_paper(false);
    prefers_dark.addEventListener("change", on_preference);
    printing.addEventListener("change", on_media);
    addEventListener("beforeprint", before);
    addEventListener("afterprint", after);
    return () => {
      prefers_dark.removeEventListener("change", on_preference);
      printing.removeEventListener("change", on_media);
      removeEventListener("beforeprint", before);
      removeEventListener("afterprint", after);
    };
  }, []);
  const on_screen = chosen ?? preferred;
  const change = () => {
    const other: Scheme = on_screen === "dark" ? "light" : "dark";
    choose(other);
    keep_scheme(other);
  };
  return [on_paper ? "light" : on_screen, change];
}

export function apply_scheme(scheme: Scheme): void {
  const root = document.documentElement;
  root.dataset.scheme = scheme;
  root.style.colorScheme = scheme;
  for (const [name, value] of Object.entries(colours_of[scheme])) {
    if (typeof value === "string") root.style.setProperty(`--${name}`, value);
  }
}
