// Drags on the chart: a box of pixels, or a turn. ECharts' own brush does not support large series.

import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

export interface PixelBox {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

interface Handlers {
  kind: "box" | "turn";
  on_box: (box: PixelBox) => void;
  on_turn: (across: number, down: number) => void; // pixels since the last call
}

const still_a_click = 5; // pixels

// Returns the box while it is drawn.
export function useDrag(target: RefObject<HTMLElement | null>, handlers: Handlers): PixelBox | null {
  const [box, draw] = useState<PixelBox | null>(null);
  const current = useRef(handlers);
  current.current = handlers;
  useEffect(() => {
    const holder = target.current!;
    let start: { x: number; y: number; id: number } | null = null;
    let last = { x: 0, y: 0 };
    let moved = false;
    const point = (event: PointerEvent) => {
      const frame = holder.getBoundingClientRect();
      return { x: event.clientX - frame.left, y: event.clientY - frame.top };
    };
    const box_to = (end: { x: number; y: number }): PixelBox => ({
      left: Math.min(start!.x, end.x),
      right: Math.max(start!.x, end.x),
      top: Math.min(start!.y, end.y),
      bottom: Math.max(start!.y, end.y),
    });
    const down = (event: PointerEvent) => {
      if (event.button !== 0) return;
      start = { ...point(event), id: event.pointerId };
      last = start;
      moved = false;
    };
    const move = (event: PointerEvent) => {
      if (!start || event.pointerId !== start.id) return;
      const here = point(event);
      if (!moved && Math.hypot(here.x - start.x, here.y - start.y) < still_a_click) return;
      moved = true;
      if (current.current.kind === "turn") current.current.on_turn(here.x - last.x, here.y - last.y);
      else draw(box_to(here));
      last = here;
    };
    const up = (event: PointerEvent) => {
      if (start && moved && current.current.kind === "box") current.current.on_box(box_to(point(event)));
      cancel();
    };
    const cancel = () => {
      start = null;
      draw(null);
    };
    holder.addEventListener("pointerdown", down);
    addEventListener("pointermove", move);
    addEventListener("pointerup", up);
    addEventListener("pointercancel", cancel);
    return () => {
      holder.removeEventListener("pointerdown", down);
      removeEventListener("pointermove", move);
      removeEventListener("pointerup", up);
      removeEventListener("pointercancel", cancel);
    };
  }, []);
  return box;
}
