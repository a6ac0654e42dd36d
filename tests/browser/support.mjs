// Runs made by the real program, pages of them, and a browser that complains of every error on its console.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const { chromium } = createRequire(join(process.env.WORK, "package.json"))("playwright-core");
const made = join(process.env.WORK, "runs");
export const views = ["search", "proxies", "worth", "supernet", "training", "machine"];

export const at = (name) => join(made, name);
export const heed = (...words) => execFileSync(process.env.HEED, words.map(String), { stdio: ["ignore", "pipe", "pipe"] }).toString();

const recipe = {
  model: { backbone: "transformer-xl", arch: "sf", width: 16, heads: [2], inner: [32], vocabulary: 256, dropout: 0.1 },
  training: { batch: 4, length: 16, memory: 16, steps: 60, optimizer: "adam", learning_rate: 0.01, evaluate_every: 20, evaluate_tokens: 500 },
  evaluation: { batch: 2, length: 16, memory: 16 },
};
const space = (layers, widths, inner) => `
length = 16
about = "small ones"
[model]
backbone = "transformer-xl"
shared_position_bias = false
vocabulary = 256
[genes]
layer = ["sf", "r"]
layers = ${layers}
width = ${widths}
heads = [2, 4]
inner = ${inner}
projection = [8, 16]
`;
const table = "id,n_layer,d_model,n_head,d_inner,n_token,valid_ppl\n" + [50, 43, 40, 37, 31, 30].map((perplexity, i) => `m${i},2,64,4,${64 * (i + 1)},1000,${perplexity}`).join("\n") + "\n";

// One of every kind, once for all tests.
export function make_runs() {
  rmSync(made, { recursive: true, force: true });
  mkdirSync(made, { recursive: true });
  writeFileSync(at("text.txt"), "the cat sat on the mat. a dog ate the fog.\n".repeat(500));
  writeFileSync(at("tiny.json"), JSON.stringify(recipe));
  writeFileSync(at("small.toml"), space("[1, 2]", "[16, 32]", "[16, 32, 48, 64]"));
  writeFileSync(at("large.toml"), space("[6, 7, 8]", "[16, 32]", "[16, 32, 48, 64]"));
  writeFileSync(at("slow.toml"), space("[8, 9, 10]", "[128, 192, 256]", "[256, 512]"));
  writeFileSync(at("table.csv"), table);
  const profile = ["--profile", at("profile.db")];
  heed("search", at("small.toml"), "-o", at("found"), ...profile, "--keep", 6, "--no-baselines", "--strategy", "random", "--samples", 300, "--max-memory", "64MiB");
  heed("search", at("large.toml"), "-o", at("many"), ...profile, "--keep", 2, "--no-baselines", "--strategy", "random", "--samples", 26000);
  heed("train", at("found/pick"), "--data", at("text.txt"), "-o", at("first"), "--steps", 60, "--evaluate-every", 20, "--batch", 4, "--length", 16, "--memory", 16);
  heed("train", at("tiny.json"), "--data", at("text.txt"), "-o", at("second"));
  heed("supernet", at("tiny.json"), "--data", at("text.txt"), "-o", at("supernet"), "--layers", 3, "--steps", 60, "--unchanged", 0, "--seeds", 2);
  heed("rank", "--table", at("table.csv"), "--backbone", "gpt2", "-o", at("ranked"));
  heed("worth", at("text.txt"), "--space", at("small.toml"), "--models", 12, "--tokens", 1000, "--budget", "2m", "-o", at("worth"));
  report("all.html", "found", "first", "second", "supernet", "ranked", "worth");
}

export function report(name, ...runs) {
  heed("report", ...runs.map(at), "--profile", at("profile.db"), "-o", at(name));
}

export function document_of(name) {
  return JSON.parse(readFileSync(at(name), "utf8").match(/<script id="document" type="application\/json">(.*?)<\/script>/s)[1]);
}

export const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-dev-shm-usage"] });

// `target`: a page in `made`, or an address. What the browser complains of fails the test when it closes the page.
export async function open(target, options = {}, context = browser) {
  const page = await context.newPage({ viewport: { width: 1280, height: 900 }, ...options });
  page.complaints = [];
  page.on("console", (message) => message.type() === "error" && page.complaints.push(message.text()));
  page.on("pageerror", (error) => page.complaints.push(error.message));
  page.on("dialog", (dialog) => (page.complaints.push(`dialog: ${dialog.message()}`), dialog.dismiss()));
  page.on("request", (request) => {
    const own = /^(file|data|blob):|^http:\/\/127\.0\.0\.1:/.test(request.url());
    if (!own) page.complaints.push(`asked ${request.url()}`);
  });
  await page.goto(target.startsWith("http") ? target : pathToFileURL(at(target)).href);
  return page;
}

export async function close(page) {
  assert.deepEqual(page.complaints, []);
  await page.close();
}

export const by = (page, testid) => page.locator(`[data-testid="${testid}"]`);
export async function show(page, view) {
  await by(page, `tab-${view}`).click();
  await page.locator(`[data-testid="tab-${view}"][aria-current="page"]`).waitFor();
}
export const rows_shown = async (page) => Number(await page.locator("#row-count").getAttribute("data-rows"));

// Programs that tests begin; those that a failed test leaves behind are ended, or node would wait for them.
const children = new Set();
function start(words, stdio) {
  const child = spawn(process.env.HEED, words, { stdio });
  children.add(child);
  child.once("exit", () => children.delete(child));
  return child;
}
export const end_children = () => children.forEach((child) => child.kill("SIGKILL"));

// A server of these runs; `stop` ends it as Ctrl-C does and gives its exit code.
export const serve = (...runs) => serve_at(0, ...runs);
export async function serve_at(port, ...runs) {
  const child = start(["serve", ...runs.map(at), "--port", String(port), "--profile", at("profile.db")], ["ignore", "pipe", "inherit"]);
  const line = await new Promise((done) => child.stdout.once("data", (data) => done(data.toString())));
  const address = line.match(/^http:\/\/127\.0\.0\.1:\d+\//)[0];
  return {
    address,
    stop: () => new Promise((done) => (child.once("exit", done), child.kill("SIGINT"))),
  };
}

export const train_on = (name, steps) =>
  start(["train", at("tiny.json"), "--data", at("text.txt"), "-o", at(name), "--steps", String(steps), "--evaluate-every", "200"], "ignore");
export const begin = (...words) => start(words.map(String), "ignore");
export { existsSync };
