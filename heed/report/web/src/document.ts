// The document that heed gives to the page, with any number of runs. heed/report/*_view.cpp write it; an unknown
// number is null. Losses are nats per token, times milliseconds or seconds as named, sizes bytes.

export interface HeedDocument {
  version: string; // of heed
  made: string; // UTC, "2026-11-16 12:30:00"
  change?: number; // of a live document: the number of the last change in it, after which the next ones are asked for
  letters: Letter[]; // heed's table of blocks
  runs: Run[];
}

export interface Letter {
  letter: string;
  name: string; // "self-attention"
  identity: boolean; // its block returns its input
  sizes: { name: string; title: string }[]; // that differ from block to block
}

export type Run = SearchRun | RankingRun | WorthRun | SupernetRun | TrainingRun | DeviceRun | UnreadableRun;

interface AnyRun {
  name: string; // of the folder; unique in the document
  path: string; // as it was given
  state: "done" | "running" | "stopped" | "empty";
  problems: string[]; // sentences on what is missing or damaged; the rest is shown
}

// Nothing could be read: `problems` says why.
export interface UnreadableRun extends AnyRun {
  kind: "unreadable";
}

// One block of a model, or the frame around its blocks. ms: in a segment of `length` tokens.
export interface Block {
  letter: string;
  width: number;
  sizes: Record<string, number>; // by name, those that the letter has
  parameters: number;
  bytes: number; // of weights and state
  ms: number | null;
}
export interface Frame {
  width: number;
  embedding_width: number; // the model's width if it has no other
  vocabulary: number;
  parameters: number;
  bytes: number;
  ms: number | null;
}

// A model that was measured as a whole, even if others proved better or it exceeded a limit.
export interface FoundModel {
  name: string;
  role: "model" | "baseline" | "rival"; // a rival is a published arrangement, scaled to the latency of the best model
  picks: string[]; // "best", "knee", "cheapest within 1% of the best"
  score: number;
  decoder: number;
  total: number; // parameters
  predicted_ms: number | null; // null for baselines
  measured_ms: number;
  low_ms: number; // 10th and
  high_ms: number; // 90th percentile
  predicted_step_ms: number | null; // of one more token; null for baselines, and for searches of earlier versions
  step_ms: number | null;
  predicted_first_token_ms: number | null; // from loading the model to the end of the prompt; null likewise
  first_token_ms: number | null;
  planned_bytes: number;
  measured_bytes: number;
  arch: string; // "(sf)x4"
  frame: number; // indices into SearchRun.frames and .blocks
  blocks: number[];
  train: string; // the command that trains it; "" if the search left no recipe for it
  // From training runs of the same document with the same model; "valid" parts of their texts.
  trained: { run: string; loss: number; unit: Unit }[];
  moments: Moments; // of the training by the search itself; empty if it did not train this model
}

// A loss over the course of a training.
export interface Moments {
  tokens: number[]; // seen so far
  bits_per_byte: number[];
}

// What one more block of each kind and size would change in a model, by a law of worth.
export interface Rates {
  base: string; // the model's name
  arch: string;
  width: number;
  tokens: number; // that it is trained on
  predicted: number; // bits per byte of the model without one more
  blocks: {
    letter: string;
    width: number;
    sizes: Record<string, number>;
    parameters: number;
    bits: number; // per byte, by which the predicted loss is lower
    piece: string; // its key in a device's profile
    ms: number | null; // in a segment, as in Block
  }[];
}

export interface SearchRun extends AnyRun {
  kind: "search";
  space: string;
  about: string;
  strategy: string;
  proxy: string;
  length: number; // tokens of the segment that was timed
  limits: { latency_ms: number | null; memory: number | null; parameters: number | null };
  frames: Frame[];
  blocks: Block[];
  // One entry per candidate in every list, in the order they were evaluated.
  candidates: {
    key: string[]; // "RUN:KEY" is a recipe for `heed train`
    score: number[];
    latency_ms: number[];
    step_ms: number[];
    first_token_ms: (number | null)[];
    memory: number[]; // bytes, predicted
    decoder: number[];
    total: number[];
    frame: number[];
    blocks: number[][];
    front: number[]; // indices of those on the frontier of score, latency and memory
  };
  models: FoundModel[];
  hypervolume: { evaluations: number[]; volume: number[] };
  by_law: boolean; // scores are minus the bits per byte that a law of worth predicts
  train_tokens: number | null; // that the prediction is for; null for searches of earlier versions
  rates: Rates[]; // of the recommended model; empty without a law
}

export interface RankingRun extends AnyRun, Ranking {
  kind: "ranking";
  begun: number; // models that are trained or in training; 0 if they come from a table
}

// The middle 95% of a coefficient over bootstrap samples of the models; null where there are too few.
export type Interval = [number | null, number | null];

// How well scores rank trained models. Rankings of earlier versions have neither intervals nor numbers of models.
export interface Ranking {
  models: { id: string; perplexity: number; latency_ms: number | null; arch: string; total: number }[];
  percents: number[]; // 10, 20, .. 100
  models_by_percent?: number[]; // how many models those are
  few_models?: number; // with fewer a coefficient is mostly chance
  proxies: {
    name: string;
    seconds: number; // to score all models
    spearman: number | null;
    spearman_top: (number | null)[]; // by percents
    spearman_intervals?: Interval[];
    common_ratio: (number | null)[];
    common_ratio_intervals?: Interval[];
    distance: number | null; // mean distance of its frontier to the true one, as a share
    scores: number[]; // by models
  }[];
}

export interface WorthRun extends AnyRun {
  kind: "worth";
  space: string;
  text: string; // name of the file or folder that the models learn from
  tokens: number; // that each is trained on
  planned: number; // models
  begun: number;
  // Of predictions for models that the fit left out; null until the law is fitted. `error` is the root mean square, in
  // bits per byte; the others are Spearman's coefficient.
  quality: { error: number | null; spearman: number | null; spearman_best_fifth: number | null; spearman_larger_half: number | null } | null;
  models: WorthModel[];
  rates: Rates[]; // of the median model of each width
  ranking: Ranking | null; // by the law, and by scores that need no training
}

export interface WorthModel {
  name: string;
  arch: string;
  width: number;
  vocabulary: number;
  parameters: number;
  predicted: number | null; // bits per byte, by a law fitted to the other models; null until there is one
  measured: number;
  moments: Moments;
}

// One that the law has been asked about.
export type ValuedModel = WorthModel & { predicted: number };

export interface SupernetRun extends AnyRun {
  kind: "supernet";
  letters: string;
  layers: number;
  steps: number;
  weights_only: number; // first iterations, in which logits do not change
  unit: Unit;
  seeds: {
    seed: number;
    done: boolean;
    converged: boolean;
    loss: number | null;
    arch: string; // what was found, "" if nothing but identity
    by_layer: string; // the most probable letter of each layer
    course: {
      step: number[];
      temperature: number[];
      by_layer: string[];
      probabilities: number[][][]; // [time][layer][letter]
    };
    slices: Record<string, number>[]; // letter -> blocks, in each third of the layers
    losses: { step: number[]; loss: number[] }; // thinned, with the lowest and the highest of every interval
  }[];
  slices: Record<string, { mean: number; deviation: number }[]>; // letter -> thirds, over the seeds
}

export type Unit = "bpc" | "ppl";

export interface TrainingRun extends AnyRun {
  kind: "training";
  about: string;
  arch: string;
  parameters: number;
  unit: Unit;
  steps: number; // that are planned
  text: string; // file or folder it learns from
  // Of a long run about two thousand steps: those with the lowest or highest value of an interval.
  series: {
    recorded: number; // number of steps
    step: number[];
    loss: number[];
    norm: number[];
    rate: number[];
    tokens: number[];
    seconds: number[]; // spent in steps
    tokens_per_second: number[];
  };
  // Thinned likewise, to about a thousand.
  valid: { recorded: number; step: number[]; loss: number[]; tokens: number[]; seconds: number[]; best: boolean[] };
  samples: { step: number; text: string }[]; // about two hundred at most
  samples_recorded: number;
}

export interface DeviceRun extends AnyRun {
  kind: "device";
  devices: DeviceProfile[]; // the one with most pieces first
}

export interface DeviceProfile {
  device: {
    cpu: string;
    cores: number;
    allowed: number;
    threads: number;
    instructions: string;
    products: string; // library of matrix products
    memory: number;
  };
  peak_gflops: number | null; // matrix products, all threads
  pieces: {
    key: string; // names the piece
    what: "block" | "frame";
    backbone: string;
    length: number; // tokens
    step: boolean; // one more token after them
    letter: string; // "" for a frame
    width: number;
    sizes: Record<string, number>; // of a block
    vocabulary: number | null; // of a frame
    embedding_width: number | null;
    ms: number;
    low_ms: number;
    high_ms: number;
    gflop: number;
    date: string;
  }[];
}

// What `heed serve` answers to a page that knows the document as it was after an earlier change.
export interface Changes {
  change: number; // the last one
  runs: {
    place: number; // index in the document's `runs`
    made: string; // as in the document
    run: Run;
  }[]; // as they are now; those that did not change are left out
}
