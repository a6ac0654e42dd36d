// The settings of the drawing.

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

// A logarithm separates the scores of small models beside those of large ones.
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
  const heights = named(["score", "reached", "ppl", "bpc"]);
  const thirds = named(["score", "latency", "memory", "decoder", "total"]).filter((one) => one.value !== settings.x && one.value !== settings.y);
  const score = quantities.find((one) => one.name === "score")!;
  // A setting as a switch; `also` is what else a new value changes.
  const choice = <Name extends keyof Settings>(
    name: Name,
    title: string,
    titles: Partial<Record<Settings[Name], string>>,
    also: (value: Settings[Name]) => Partial<Settings> = () => ({}),
  ) => (
    <Choice
      title={title}
      testid={`choice-${name.replace("_", "-")}`}
      value={settings[name]}
      options={(Object.keys(titles) as Settings[Name][]).map((value) => ({ value, title: titles[value]! }))}
      on_change={(value) => change({ [name]: value, ...also(value) })}
    />
  );
  const third_but = (axis: QuantityName) => (settings.third === axis ? "none" : settings.third);
  const scales = { linear: "linear", log: "log" };
  return (
    <div class="controls">
      {choice("shape", "View", { flat: "2-D", turned: "3-D" }, (shape) => ({ drag: shape === "flat" ? "select" : "turn" }))}
      {flat && choice("x", "Across", { latency: "latency", memory: "memory" }, (x) => ({ third: third_but(x) }))}
      {choice("x_scale", flat ? "Scale across" : "Scale of costs", scales)}
      {flat && heights.length > 1 && <Picker title="Up" testid="choice-y" value={settings.y} options={heights} on_change={(y) => change({ y, third: third_but(y) })} />}
      {score.values.every((value) => !(value <= 0)) && choice("y_scale", flat ? "Scale up" : `Scale of ${score.title}`, scales)}
      {flat && (
        <Picker
          title="Third quantity"
          testid="choice-third"
          value={settings.third}
          options={[{ value: "none" as const, title: "none" }, ...thirds]}
          on_change={(third) => change({ third })}
        />
      )}
      {flat && settings.third !== "none" && choice("third_as", "shown as", { colour: "colour", size: "size" })}
      {choice("drag", "Dragging", flat ? { select: "selects", zoom: "zooms" } : { turn: "turns", select: "selects" })}
    </div>
  );
}
