// Reference answers for WordPiece: Hugging Face's tokenizers in JavaScript, which @huggingface/transformers is made of.
// Usage: node wordpiece.mjs <folder with node_modules> <question.json> <answer.json>
//   question: {files: [tokenizer.json, ...], cases: [{file: its number, text, words: ask for them too, pair: a second text}, ...]}
//   answer:   the same with the ids of each case, without [CLS] and [SEP]; if asked for, the words before they are cut, and
//             instead of the second text {ids, types} of both texts with [CLS] and [SEP]
// `node wordpiece.mjs FOLDER tests/data/wordpiece_cases.json tests/data/wordpiece_cases.json` makes the committed answers again.
import fs from "node:fs";
import path from "node:path";
import { createRequire } from "node:module";

const [folder, question_file, answer_file] = process.argv.slice(2);
const require = createRequire(path.join(path.resolve(folder), "package.json"));
const { Tokenizer } = require("@huggingface/tokenizers");

const question = JSON.parse(fs.readFileSync(question_file, "utf8"));
const tokenizers = question.files.map((file) => new Tokenizer(file, {}));
for (const one of question.cases) {
  const tokenizer = tokenizers[one.file];
  one.ids = tokenizer.encode(one.text, { add_special_tokens: false }).ids;
  if (one.pair) {
    const { ids, token_type_ids } = tokenizer.encode(one.text, { text_pair: one.pair, return_token_type_ids: true });
    one.pair = { ids, types: token_type_ids };
  }
  if (one.words) one.words = tokenizer.pre_tokenizer(tokenizer.normalizer(one.text));
}

// A line for each file and case, in ASCII: some of the characters cannot be seen.
const ascii = (value) =>
  JSON.stringify(value).replace(/[\u007f-\uffff]/g, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
const lines = (list) => list.map((value) => "  " + ascii(value)).join(",\n");
fs.writeFileSync(answer_file, `{"files": [\n${lines(question.files)}\n],\n"cases": [\n${lines(question.cases)}\n]}\n`);
