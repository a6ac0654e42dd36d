// What the reader chooses about the drawing.

import { Choice, Picker } from "../../parts.tsx";
import type { Quantity, QuantityName } from "./quantities.ts";

export interface Settings {
  shape: "flat" | "turned";
  y: QuantityName;
  x: "latency" | "memory";
  x_scale: "linear" | "log";
  y_scale: "linear" | "log";
  third: QuantityName | "none";
  third_as: "colour" | "size";
  drag: "select" | "zoom" | "turn";
}

// Scores of small models beside those of large ones need a logarithm to be told apart.
const far_apart = 20;

export function first_settings(scores: Float64Array): Settings {
  const least = scores.reduce((before, value) => Math.min(before, value), Infinity);
  const most = scores.reduce((before, value) => Math.max(before, value), -Infinity);
  return {
    shape: "flat",
    y: "score",
    x: "latency",
    x_scale: "log",
    y_scale: least > 0 && most > far_apart * least ? "log" : "linear",
    third: "none",
    third_as: "colour",
    drag: "select",
  };
}

interface Properties {
  settings: Settings;
  quantities: Quantity[];
  change: (part: Partial<Settings>) => void;
}

export function SettingsControls({ settings, quantities, change }: Properties) {
  const named = (names: QuantityName[]) => quantities.filter((one) => names.includes(one.name)).map((one) => ({ value: one.name, title: one.title }));
  const flat = settings.shape === "flat";
  const heights = named(["score", "ppl", "bpc"]);
  const thirds = named(["score", "latency", "memory", "decoder", "total"]).filter((one) => one.value !== settings.x && one.value !== settings.y);
  const score = quantities.find((one) => one.name === "score")!;
  const scales = [
    { value: "linear" as const, title: "linear" },
    { value: "log" as const, title: "log" },
  ];
  return (
    <div class="controls">
      <Choice
        title="View"
        testid="choice-shape"
        value={settings.shape}
        options={[
          { value: "flat", title: "2-D" },
          { value: "turned", title: "3-D" },
        ]}
        on_change={(shape) => change({ shape, drag: shape === "flat" ? "select" : "turn" })}
      />
      {flat && (
        <Choice
          title="Across"
          testid="choice-x"
          value={settings.x}
          options={[
            { value: "latency", title: "latency" },
            { value: "memory", title: "memory" },
          ]}
          on_change={(x) => change({ x, third: settings.third === x ? "none" : settings.third })}
        />
      )}
      <Choice title={flat ? "Scale across" : "Scale of costs"} testid="choice-x-scale" value={settings.x_scale} options={scales} on_change={(x_scale) => change({ x_scale })} />
      {flat && heights.length > 1 && (
        <Picker title="Up" testid="choice-y" value={settings.y} options={heights} on_change={(y) => change({ y, third: settings.third === y ? "none" : settings.third })} />
      )}
      {score.values.every((value) => !(value <= 0)) && (
        <Choice title={flat ? "Scale up" : "Scale of score"} testid="choice-y-scale" value={settings.y_scale} options={scales} on_change={(y_scale) => change({ y_scale })} />
      )}
      {flat && (
        <Picker
          title="Third quantity"
          testid="choice-third"
          value={settings.third}
          options={[{ value: "none" as const, title: "none" }, ...thirds]}
          on_change={(third) => change({ third })}
        />
      )}
      {flat && settings.third !== "none" && (
        <Choice
          title="shown as"
          testid="choice-third-as"
          value={settings.third_as}
          options={[
            { value: "colour", title: "colour" },
            { value: "size", title: "size" },
          ]}
          on_change={(third_as) => change({ third_as })}
        />
      )}
      <Choice
        title="Dragging"
        testid="choice-drag"
        value={settings.drag}
        options={
          flat
            ? [
                { value: "select", title: "selects" },
                { value: "zoom", title: "zooms" },
              ]
            : [
                { value: "turn", title: "turns" },
                { value: "select", title: "selects" },
              ]
        }
        on_change={(drag) => change({ drag })}
      />
    </div>
  );
}
