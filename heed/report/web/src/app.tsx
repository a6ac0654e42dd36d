// The page around the views: which version made it, which kinds of runs there are, which one is shown.

import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import type { HeedDocument, Run } from "./document.ts";
import { use_letters } from "./letters.ts";
import { type Connection, useDocument } from "./load.ts";
import { Guard, Note, Nothing, Picker } from "./parts.tsx";
import { apply_scheme, ThemeProvider, useSchemeChoice } from "./theme.ts";
import { type View, views } from "./views/list.ts";

// "#search/name of the run"
interface Place {
  path: string;
  run: string;
}

function place_of(hash: string): Place {
  const [path = "", ...rest] = hash.replace(/^#/, "").split("/");
  try {
    return { path, run: decodeURIComponent(rest.join("/")) };
  } catch {
    return { path, run: "" };
  }
}

function hash_of(path: string, run: string): string {
  return run ? `#${path}/${encodeURIComponent(run)}` : `#${path}`;
}

function usePlace(): Place {
  const [place, move] = useState(() => place_of(location.hash));
  useEffect(() => {
    const on_change = () => move(place_of(location.hash));
    addEventListener("hashchange", on_change);
    return () => removeEventListener("hashchange", on_change);
  }, []);
  return place;
}

export function App() {
  const loaded = useDocument();
  const [scheme, change_scheme] = useSchemeChoice();
  useLayoutEffect(() => apply_scheme(scheme), [scheme]);
  const { document, connection, problem } = loaded;
  if (document) use_letters(document.letters);
  return (
    <ThemeProvider value={scheme}>
      <header class="page-head">
        <div class="title">
          <h1>heed report</h1>
          {document && (
            <p class="quiet" data-testid="made">
              made {document.made} UTC by heed {document.version}
            </p>
          )}
        </div>
        <Mark connection={connection} />
        <button type="button" class="controls" data-testid="scheme" onClick={change_scheme}>
          {scheme === "dark" ? "Light colours" : "Dark colours"}
        </button>
      </header>
      {document ? <Pages document={document} /> : <Waiting problem={problem} />}
    </ThemeProvider>
  );
}

function Mark({ connection }: { connection: Connection }) {
  if (connection === "none") return null;
  return (
    <p class={`mark ${connection}`} role="status" data-testid="connection">
      {connection === "live" ? "● live" : "○ connection lost, trying again"}
    </p>
  );
}

function Waiting({ problem }: { problem: string }) {
  return (
    <main>
      <Nothing>{problem ? `There is nothing to show: ${problem}.` : "Loading the document."}</Nothing>
    </main>
  );
}

function Pages({ document }: { document: HeedDocument }) {
  const place = usePlace();
  const present = views.filter((view) => document.runs.some((run) => run.kind === view.kind));
  const unreadable = document.runs.filter((run) => run.kind === "unreadable");
  const view = present.find((view) => view.path === place.path) ?? present[0];
  return (
    <>
      {present.length > 0 && (
        <nav aria-label="kinds of runs" data-testid="tabs">
          {present.map((one) => (
            <a key={one.path} href={hash_of(one.path, "")} aria-current={one === view ? "page" : undefined} data-testid={`tab-${one.path}`}>
              {one.title}
            </a>
          ))}
        </nav>
      )}
      <main>
        {unreadable.map((run) => (
          <Note key={run.name} testid="unreadable">
            <strong>{run.name}</strong> could not be read{run.path === run.name ? "" : ` (${run.path})`}:{" "}
            {run.problems.join(" ") || "no reason is known."}
          </Note>
        ))}
        {view ? (
          <Page key={view.path} view={view} runs={document.runs.filter((run) => run.kind === view.kind)} chosen={place.run} />
        ) : (
          <Nothing>{unreadable.length > 0 ? "None of the runs could be read." : "This report has no runs. Give heed report the folders of runs."}</Nothing>
        )}
      </main>
    </>
  );
}

function Page({ view, runs, chosen }: { view: View; runs: Run[]; chosen: string }) {
  const one = runs.find((run) => run.name === chosen) ?? runs[0]!;
  const shown = view.together ? runs : [one];
  const Show = view.show;
  return (
    <>
      {!view.together && runs.length > 1 && (
        <div class="controls">
          <Picker
            title="Run"
            testid="run"
            value={one.name}
            options={runs.map((run) => ({ value: run.name, title: run.name }))}
            on_change={(name) => location.assign(hash_of(view.path, name))}
          />
        </div>
      )}
      {shown.map((run) => (
        <RunHead key={run.name} run={run} short={view.together} />
      ))}
      <Guard of={shown.length === 1 ? shown[0] : runs}>
        <Show key={view.together ? "all" : one.name} runs={shown} />
      </Guard>
    </>
  );
}

const states: Record<Run["state"], string> = {
  done: "done",
  running: "still running",
  stopped: "stopped before its end",
  empty: "empty: it has recorded nothing yet",
};

// If a view shows all runs at once, its own table names them; only those with problems are listed here.
function RunHead({ run, short }: { run: Run; short: boolean }) {
  return (
    <>
      {!short && (
        <p class="run-head" data-testid="run-head">
          <strong>{run.name}</strong>
          <span class={`state ${run.state.replace(" ", "-")}`}>{states[run.state]}</span>
          {run.path !== run.name && <code>{run.path}</code>}
        </p>
      )}
      {short && run.state === "empty" && (
        <Note testid="problem">
          <strong>{run.name}</strong> is {states.empty}.
        </Note>
      )}
      {run.problems.map((problem) => (
        <Note key={problem} testid="problem">
          <strong>{run.name}</strong>: {problem}
        </Note>
      ))}
    </>
  );
}
