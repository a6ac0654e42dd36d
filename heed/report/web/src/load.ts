// Loads the document: from the page itself, or from the server of the page, which is then asked every second for
// what has changed. A connection that waits for news would be one of the six that a browser has for all its tabs.

import { useEffect, useState } from "preact/hooks";
import type { Changes, HeedDocument } from "./document.ts";

export type Connection = "none" | "live" | "lost";

export interface Loaded {
  document: HeedDocument | null;
  connection: Connection;
  problem: string; // why there is no document; "" while it is loading
}

const pause_ms = 1000;

function embedded(): HeedDocument | null {
  return JSON.parse(document.getElementById("document")?.textContent ?? "null") as HeedDocument | null;
}

function with_changes(before: HeedDocument, changes: Changes): HeedDocument {
  if (changes.runs.length === 0) return before;
  const runs = before.runs.slice();
  let made = before.made;
  for (const changed of changes.runs) {
    runs[changed.place] = changed.run;
    if (changed.made > made) made = changed.made;
  }
  return { ...before, made, runs, change: changes.change };
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

// A tab that nobody looks at asks nothing.
function pause(): Promise<unknown> {
  return new Promise((done) => {
    if (document.hidden) document.addEventListener("visibilitychange", done, { once: true });
    else setTimeout(done, pause_ms);
  });
}

// The document now, given the one before. A server that was started anew answers "gone" to what an earlier one has
// told, and is asked for all.
async function now(before: HeedDocument | null): Promise<HeedDocument> {
  const wanted = before ? `changes?after=${before.change}` : "document.json";
  const answer = await fetch(wanted, { cache: "no-store" });
  if (before && answer.status === 410) return now(null);
  if (!answer.ok) throw new Error(`${wanted}: the server answered ${answer.status}`);
  return before ? with_changes(before, (await answer.json()) as Changes) : ((await answer.json()) as HeedDocument);
}

// Calls `change` with all that is known each time when that is something else. Returns a function that stops it.
function follow(change: (loaded: Loaded) => void): () => void {
  let stopped = false;
  const ask = async () => {
    let loaded: Loaded = { document: null, connection: "none", problem: "" };
    for (; !stopped; await pause()) {
      let next: Loaded;
      try {
        next = { document: await now(loaded.document), connection: "live", problem: "" };
      } catch (error) {
        next = { ...loaded, connection: "lost", problem: reason(error) };
      }
      const same = next.document === loaded.document && next.connection === loaded.connection && next.problem === loaded.problem;
      loaded = next;
      if (!same && !stopped) change(loaded);
    }
  };
  void ask();
  return () => (stopped = true);
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
