// Labels beside points, so that none covers another or a mark: the first free one of a few positions around the point.

import type { Point } from "./series.ts";

// Pixels, down from the top left.
export interface Rectangle {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

export interface Sheet {
  width: number;
  height: number;
  pixel: (point: Point) => Point;
  taken: Rectangle[]; // by other elements
  lines: Rectangle[]; // that a label crosses only if there is no other position
}

export interface Placed {
  position: "left" | "right" | "top" | "bottom";
  offset: Point;
}

const letter_width = 6.3;
const line_height = 15;
const mark_size = 14;
const gap = 6;

export function around([x, y]: Point, size = mark_size): Rectangle {
  return { left: x - size / 2, right: x + size / 2, top: y - size / 2, bottom: y + size / 2 };
}

function meet(one: Rectangle, other: Rectangle): boolean {
  return one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
}

function tries(width: number): Placed[] {
  return [
    { position: "right", offset: [0, 0] },
    { position: "left", offset: [0, 0] },
    ...[0, -width / 3, width / 3].flatMap((across): Placed[] => [
      { position: "top", offset: [across, 0] },
      { position: "bottom", offset: [across, 0] },
    ]),
    ...[18, -18, 36, -36, 54, -54].flatMap((down): Placed[] => [
      { position: "right", offset: [0, down] },
      { position: "left", offset: [0, down] },
    ]),
  ];
}

function rectangle([x, y]: Point, width: number, { position, offset }: Placed): Rectangle {
  const away = mark_size / 2 + gap;
  if (position === "left" || position === "right") {
    const left = position === "right" ? x + away : x - away - width;
    return { left, right: left + width, top: y + offset[1] - line_height / 2, bottom: y + offset[1] + line_height / 2 };
  }
  const top = position === "top" ? y - away - line_height : y + away;
  const middle = x + offset[0];
  return { left: middle - width / 2, right: middle + width / 2, top, bottom: top + line_height };
}

// As much of a name as a chart of this width has room for.
export function fitting(text: string, keep: "beginning" | "end", sheet: Sheet): string {
  const most = sheet.width < 400 ? 10 : 40;
  if (text.length <= most) return text;
  return keep === "beginning" ? `${text.slice(0, most - 1)}…` : `…${text.slice(1 - most)}`;
}

// By label, or null for those without a position; earlier ones choose first. `marks` are never covered.
export function place_labels(labels: { point: Point; text: string }[], marks: Point[], sheet: Sheet): (Placed | null)[] {
  const taken = [...sheet.taken, ...marks.map((mark) => around(sheet.pixel(mark)))];
  return labels.map(({ point, text }) => {
    if (text === "") return null;
    const at = sheet.pixel(point);
    const width = text.length * letter_width;
    const free = tries(width)
      .map((placed) => ({ placed, box: rectangle(at, width, placed) }))
      .filter(({ box }) => box.left >= 0 && box.right <= sheet.width && box.top >= 0 && box.bottom <= sheet.height)
      .filter(({ box }) => !taken.some((other) => meet(box, other)));
    const best = free.find(({ box }) => !sheet.lines.some((line) => meet(box, line))) ?? free[0];
    if (!best) return null;
    taken.push(best.box);
    return best.placed;
  });
}
