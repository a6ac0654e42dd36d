// Reference answers for the byte-pair encoding: OpenAI's r50k (gpt-tokenizer) and Hugging Face's reader of
// tokenizer.json. Usage: node bpe.mjs <folder with node_modules> <question.json> <answer.json>
//   question: {texts: [...], files: [tokenizer.json, ...], file_texts: [[text, ...] for each file]}
//   answer:   {ranks: [[token bytes in base64, rank], ...], ids: [[...] for each text], pieces: [[...] for each text],
//              file_ids: [[[...] for each text] for each file], classes: one letter for each code point of four planes}
import fs from "node:fs";
import path from "node:path";
import { createRequire } from "node:module";

const [folder, question_file, answer_file] = process.argv.slice(2);
const require = createRequire(path.join(path.resolve(folder), "package.json"));
const r50k = require("gpt-tokenizer/encoding/r50k_base");
const { Tokenizer } = require("@huggingface/tokenizers");

const question = JSON.parse(fs.readFileSync(question_file, "utf8"));
const ranks_file = path.join(folder, "node_modules/gpt-tokenizer/data/r50k_base.tiktoken");

// JavaScript's \s has U+FEFF and lacks U+0085; the original's is Unicode's White_Space.
const pattern =
  /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\p{White_Space}\p{L}\p{N}]+|\p{White_Space}+(?!\P{White_Space})|\p{White_Space}+/gu;

let classes = "";
for (let code_point = 0; code_point < 0x40000; ++code_point) {
  const c = String.fromCodePoint(code_point);
  classes += /\p{L}/u.test(c) ? "L" : /\p{N}/u.test(c) ? "N" : /\p{White_Space}/u.test(c) ? "S" : "O";
}

fs.writeFileSync(
  answer_file,
  JSON.stringify({
    ranks: fs.readFileSync(ranks_file, "utf8").trim().split("\n").map((line) => line.split(" ")),
    ids: question.texts.map((text) => r50k.encode(text, { disallowedSpecial: new Set() })),
    pieces: question.texts.map((text) => text.match(pattern) ?? []),
    file_ids: question.files.map((file, i) => {
      const tokenizer = new Tokenizer(file, {});
      return question.file_texts[i].map((text) => tokenizer.encode(text).ids);
    }),
    classes,
  }),
);
