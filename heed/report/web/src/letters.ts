// What the letters of an architecture string stand for. A new block adds one line.

const blocks: Record<string, string> = {
  s: "self-attention",
  f: "feed-forward",
  i: "identity",
  r: "SRU",
  a: "SRU++",
};

export function letter_meaning(letter: string): string {
  return blocks[letter] ?? "a block of another kind";
}
