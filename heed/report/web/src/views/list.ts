// The views, in the order of their tabs. A new one is its folder and one line here.

import type { ComponentType } from "preact";
import type { Run } from "../document.ts";
import { MachineView } from "./machine/view.tsx";
import { ProxiesView } from "./proxies/view.tsx";
import { SearchView } from "./search/view.tsx";
import { SupernetView } from "./supernet/view.tsx";
import { TrainingView } from "./training/view.tsx";
import { WorthView } from "./worth/view.tsx";

export type RunOf<Kind extends Run["kind"]> = Extract<Run, { kind: Kind }>;

export interface View {
  kind: Run["kind"];
  path: string; // in the location's hash
  title: string;
  together: boolean; // shows all runs of its kind at once, not one of them
  show: ComponentType<{ runs: Run[] }>;
}

function view<Kind extends Run["kind"]>(
  kind: Kind,
  path: string,
  title: string,
  how: "one" | "together",
  show: ComponentType<{ runs: RunOf<Kind>[] }>,
): View {
  // The page hands a view only runs of its kind.
  return { kind, path, title, together: how === "together", show: show as ComponentType<{ runs: Run[] }> };
}

export const views: View[] = [
  view("search", "search", "Search", "one", SearchView),
  view("ranking", "proxies", "Proxies", "one", ProxiesView),
  view("worth", "worth", "Worth", "one", WorthView),
  view("supernet", "supernet", "Supernet", "one", SupernetView),
  view("training", "training", "Training", "together", TrainingView),
  view("device", "machine", "Machine", "one", MachineView),
];
