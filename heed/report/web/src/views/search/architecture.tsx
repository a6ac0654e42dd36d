// A model drawn block by block, with each block's share of the time.

import { useState } from "preact/hooks";
import type { Block, Frame } from "../../document.ts";
import { bytes, count, milliseconds, percent } from "../../format.ts";
import { letter_meaning, sizes_text } from "../../letters.ts";
import { letter_colour, useColours } from "../../theme.ts";
import { fold } from "./fold.ts";

interface Properties {
  blocks: Block[];
  frame: Frame | null;
  shared: boolean[] | null; // by block: whether the model it is compared with has it too
}

export function Architecture({ blocks, frame, shared }: Properties) {
  const [folded, set_folded] = useState(true);
  const whole_ms = blocks.reduce((sum, block) => sum + (block.ms ?? 0), frame?.ms ?? 0);
  // Blocks of a document are the same object where they are the same block; those that differ from another model's
  // are not folded together with those that do not.
  const keys = blocks.map((block, place) => ({ block, only_here: shared !== null && !shared[place] }));
  const unique = new Map<string, (typeof keys)[number]>();
  const sequence = keys.map((key) => {
    const name = `${key.only_here} ${JSON.stringify(key.block)}`;
    if (!unique.has(name)) unique.set(name, key);
    return unique.get(name)!;
  });
  const groups = folded ? fold(sequence) : sequence.map((item, start) => ({ items: [item], times: 1, start }));
  const folds = fold(sequence).some((group) => group.times > 1);
  return (
    <div class="architecture" data-testid="architecture">
      {folds && (
        <label class="check">
          <input type="checkbox" data-testid="unfold" checked={!folded} onChange={(event) => set_folded(!event.currentTarget.checked)} /> show repeated blocks one by one
        </label>
      )}
      <ol>
        {frame && (
          <li class="frame">
            embedding, {count(frame.vocabulary)} tokens of width {frame.embedding_width}
            {frame.embedding_width !== frame.width && `, mapped to ${frame.width}`}
          </li>
        )}
        {blocks.length === 0 && <li class="frame">no blocks</li>}
        {groups.map((group) => (
          <li key={group.start} class={group.times > 1 ? "group repeated" : "group"} data-testid="block-group">
            <div class="members">
              {group.items.map((item, place) => (
                <BlockRow key={place} block={item.block} only_here={item.only_here} whole_ms={whole_ms} />
              ))}
            </div>
            {group.times > 1 && <span class="times">× {group.times}</span>}
          </li>
        ))}
        {frame && (
          <li class="frame">
            output; with the embedding {count(frame.parameters)} parameters, {bytes(frame.bytes)}, {milliseconds(frame.ms)}
            <Bar ms={frame.ms} whole_ms={whole_ms} />
          </li>
        )}
      </ol>
    </div>
  );
}

function BlockRow({ block, only_here, whole_ms }: { block: Block; only_here: boolean; whole_ms: number }) {
  const colours = useColours();
  const colour = letter_colour(block.letter, colours);
  const sizes = [`width ${block.width}`, ...sizes_text(block)];
  return (
    <div class={only_here ? "block only-here" : "block"}>
      <span class="letter" style={{ borderColor: colour, color: colour }}>
        {block.letter}
      </span>
      <div>
        <div>
          {letter_meaning(block.letter)}, {sizes.join(", ")}
          {only_here && <em class="tag">only here</em>}
        </div>
        <div class="quiet">
          {count(block.parameters)} parameters, {bytes(block.bytes)}, {milliseconds(block.ms)}
        </div>
        <Bar ms={block.ms} whole_ms={whole_ms} colour={colour} />
      </div>
    </div>
  );
}

function Bar({ ms, whole_ms, colour }: { ms: number | null; whole_ms: number; colour?: string }) {
  if (ms === null || whole_ms <= 0) return null;
  const share = ms / whole_ms;
  return (
    <div class="share">
      <span class="bar">
        <span style={{ width: `${Math.max(0.5, share * 100)}%`, background: colour ?? "var(--quiet)" }} />
      </span>
      <span class="quiet">{percent(share)} of the time</span>
    </div>
  );
}
