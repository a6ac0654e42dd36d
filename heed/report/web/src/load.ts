// Loads the document: from the page itself, or from the server of the page, which then sends every run that
// changes.

import { useEffect, useState } from "preact/hooks";
import type { HeedDocument, RunEvent } from "./document.ts";

export type Connection = "none" | "live" | "lost";

export interface Loaded {
  document: HeedDocument | null;
  connection: Connection;
  problem: string; // why there is no document; "" while it is loading
}

const retry_ms = 2000;

function embedded(): HeedDocument | null {
  return JSON.parse(document.getElementById("document")?.textContent ?? "null") as HeedDocument | null;
}

export function with_run(before: HeedDocument, event: RunEvent): HeedDocument {
  const runs = before.runs.slice();
  runs[Math.min(event.place, runs.length)] = event.run;
  return { ...before, made: event.made, runs };
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

// Calls `change` with everything known so far. Returns a function that stops it.
function follow(change: (update: (before: Loaded) => Loaded) => void): () => void {
  let source: EventSource | null = null;
  let timer = 0;
  const lose = (problem: string) => {
    source?.close();
    change((before) => ({ ...before, connection: "lost", problem }));
    clearTimeout(timer);
    timer = window.setTimeout(connect, retry_ms);
  };
  const listen = (after: number) => {
    source = new EventSource(`events?after=${after}`);
    source.addEventListener("run", (message: MessageEvent<string>) => {
      const event = JSON.parse(message.data) as RunEvent;
      change((before) => (before.document ? { ...before, document: with_run(before.document, event) } : before));
    });
    source.onopen = () => change((before) => ({ ...before, connection: "live", problem: "" }));
    // A new connection starts with a new document.
    source.onerror = () => lose("the server does not answer");
  };
  const connect = async () => {
    try {
      const answer = await fetch("document.json", { cache: "no-store" });
      if (!answer.ok) throw new Error(`document.json: the server answered ${answer.status}`);
      const fetched = (await answer.json()) as HeedDocument;
      change((before) => ({ ...before, document: fetched }));
      listen(fetched.change ?? 0);
    } catch (error) {
      lose(reason(error));
    }
  };
  void connect();
  return () => {
    clearTimeout(timer);
    source?.close();
  };
}

export function useDocument(): Loaded {
  const [loaded, change] = useState<Loaded>({ document: null, connection: "none", problem: "" });
  useEffect(() => {
    try {
      const found = embedded();
      if (!found) return follow(change);
      change({ document: found, connection: "none", problem: "" });
    } catch (error) {
      change({ document: null, connection: "none", problem: `the document in this page is damaged: ${reason(error)}` });
    }
    return undefined;
  }, []);
  return loaded;
}
