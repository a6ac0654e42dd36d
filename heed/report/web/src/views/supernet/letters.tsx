// A string of letters, each in its colour.

import { letter_colour, useColours } from "../../theme.ts";

export function Letters({ text, testid }: { text: string; testid?: string }) {
  const colours = useColours();
  return (
    <span class="letters" data-testid={testid}>
      {Array.from(text, (letter, place) => (
        <span key={place} style={{ color: letter_colour(letter, colours) }}>
          {letter}
        </span>
      ))}
    </span>
  );
}
