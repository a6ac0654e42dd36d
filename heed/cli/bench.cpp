#include "heed/cli/bench.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "heed/base/csv.h"
#include "heed/base/process.h"
#include "heed/base/threads.h"
#include "heed/base/units.h"
#include "heed/cli/bench_pass.h"
#include "heed/cli/progress_line.h"
#include "heed/cli/stop_signals.h"
#include "heed/cli/subject.h"
#include "heed/infer/serving.h"
#include "heed/kernels/gemm.h"
#include "heed/measure/device.h"
#include "heed/measure/session_timing.h"
#include "heed/measure/timing.h"
#include "heed/train/optimizers.h"

namespace heed::cli {
namespace {

enum class Format { kTable, kMarkdown, kCsv, kJson, kJsonLines };

}  // namespace
}  // namespace heed::cli

namespace heed {
template <>
struct EnumNames<cli::Format> {
  static constexpr std::pair<cli::Format, const char*> names[] = {{cli::Format::kTable, "table"},
                                                                  {cli::Format::kMarkdown, "md"},
                                                                  {cli::Format::kCsv, "csv"},
                                                                  {cli::Format::kJson, "json"},
                                                                  {cli::Format::kJsonLines, "jsonl"}};
};
}  // namespace heed

namespace heed::cli {
namespace {

constexpr int64_t kMostRuns = 1000000;
constexpr int kRounds = 3;

// One model at one number of threads and one length.
struct Candidate {
  const Subject* subject;
  int64_t threads, length;
  std::optional<model::Source> source;  // of its weights; synthetic ones if none
  measure::SessionSamples samples = {};

  infer::Serving serving() const { return infer::usual_serving(subject->recipe, length); }
  int64_t planned() const {
    const spec::Recipe& recipe = subject->recipe;
    return infer::plan_serving(recipe.model, recipe.data.tokenizer, serving()).total();
  }
  // Of the tokenizer, which times do not need and a process that serves the model has.
  int64_t tokenizer() const {
    const spec::Recipe& recipe = subject->recipe;
    const int64_t vocabulary = recipe.model.embedding.vocabulary;
    return infer::memory_beside_model(recipe.data.tokenizer, vocabulary) -
           infer::memory_beside_model("", vocabulary);
  }
};

// `program`: bytes that were resident before any model was.
Json to_json(const Candidate& c, int64_t program) {
  const measure::SessionSamples& s = c.samples;
  const auto summary = [](const std::vector<double>& seconds) {
    return Json{{"p50", measure::percentile(seconds, 0.5)},
                {"p95", measure::percentile(seconds, 0.95)},
                {"p99", measure::percentile(seconds, 0.99)},
                {"least", measure::percentile(seconds, 0)},
                {"spread", (measure::percentile(seconds, 0.9) - measure::percentile(seconds, 0.1)) /
                               measure::percentile(seconds, 0.5)},
                {"runs", seconds.size()},
                {"outliers", measure::outliers(seconds)}};
  };
  const double prompt = measure::percentile(s.prompt, 0.5), step = measure::percentile(s.step, 0.5);
  return {{"model", c.subject->recipe.name},
          {"threads", c.threads},
          {"length", c.length},
          {"load_seconds", summary(s.load)},
          {"prompt_seconds", summary(s.prompt)},
          {"prompt_tokens_per_second", static_cast<double>(c.length) / prompt},
          {"first_token_seconds", s.first_token()},
          {"step_seconds", s.step.empty() ? Json() : summary(s.step)},
          {"step_tokens_per_second", s.step.empty() ? Json() : Json(1 / step)},
          {"memory", {{"planned", c.planned()}, {"measured", program + c.tokenizer() + s.resident}}}};
}

// The columns of tables; people and programs get different units.
std::vector<std::pair<std::string, std::string>> cells_of(const Json& row, bool units) {
  const auto time = [&](const Json& seconds) {
    if (seconds.is_null()) return std::string(units ? "-" : "");
    return units ? format_seconds(seconds) : text(1e3 * seconds.get<double>());
  };
  const auto rate = [&](const Json& value) {
    return value.is_null() ? std::string(units ? "-" : "") : text(std::round(10 * value.get<double>()) / 10);
  };
  const auto bytes = [&](const Json& value) {
    return units ? format_bytes(value.get<int64_t>()) : text(value.get<int64_t>());
  };
  const std::string ms = units ? "" : "_ms";
  const Json &prompt = row["prompt_seconds"], &step = row["step_seconds"];
  const auto of_step = [&](const char* share) { return step.is_null() ? Json() : step[share]; };
  return {{"model", row["model"]},
          {"threads", text(row["threads"].get<int64_t>())},
          {"length", text(row["length"].get<int64_t>())},
          {"load" + ms, time(row["load_seconds"]["p50"])},
          {"prompt p50" + ms, time(prompt["p50"])},
          {"prompt p95" + ms, time(prompt["p95"])},
          {"prompt p99" + ms, time(prompt["p99"])},
          {"spread", units ? text(std::round(1000 * prompt["spread"].get<double>()) / 10, "%")
                           : text(prompt["spread"].get<double>())},
          {"outliers", text(prompt["outliers"].get<int64_t>())},
          {"first token" + ms, time(row["first_token_seconds"])},
          {"prompt tokens/s", rate(row["prompt_tokens_per_second"])},
          {"step p50" + ms, time(of_step("p50"))},
          {"step p95" + ms, time(of_step("p95"))},
          {"step p99" + ms, time(of_step("p99"))},
          {"step tokens/s", rate(row["step_tokens_per_second"])},
          {units ? "planned" : "planned_bytes", bytes(row["memory"]["planned"])},
          {units ? "measured" : "measured_bytes", bytes(row["memory"]["measured"])}};
}

void print(const std::vector<Json>& rows, Format format) {
  if (format == Format::kJson) {
    std::printf("%s\n", Json(rows).dump(2).c_str());
    return;
  }
  if (format == Format::kJsonLines) {
    for (const Json& row : rows) std::printf("%s\n", row.dump().c_str());
    return;
  }
  std::vector<std::vector<std::string>> table(1);
  for (const auto& [name, cell] : cells_of(rows.front(), format != Format::kCsv)) table[0].push_back(name);
  for (const Json& row : rows) {
    table.emplace_back();
    for (const auto& [name, cell] : cells_of(row, format != Format::kCsv)) table.back().push_back(cell);
  }
  if (format == Format::kCsv) {
    for (const auto& row : table) {
      for (size_t i = 0; i < row.size(); ++i) std::printf("%s%s", i ? "," : "", csv_cell(row[i]).c_str());
      std::printf("\n");
    }
    return;
  }
  const bool markdown = format == Format::kMarkdown;
  std::vector<size_t> widths(table[0].size());
  for (const auto& row : table) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (size_t r = 0; r < table.size(); ++r) {
    std::string line = markdown ? "|" : "";
    for (size_t i = 0; i < widths.size(); ++i) {
      const std::string space(widths[i] - table[r][i].size(), ' ');
      line += markdown ? " " + table[r][i] + space + " |"
                       : (i == 0 ? table[r][i] + space : "  " + space + table[r][i]);
    }
    std::printf("%s\n", line.c_str());
    if (r > 0 || !markdown) continue;
    std::printf("|");
    for (size_t i = 0; i < widths.size(); ++i) std::printf("%s%s", i == 0 ? "---" : "---:", "|");
    std::printf("\n");
  }
}

class Bench : public Verb {
 public:
  bool sweeps_threads() const override { return !pass_.train && !forward_; }

  void declare(Flags& flags) override {
    flags.positionals("model", names_, "names of recipes, files, or folders of models");
    flags.option("length", length_, "tokens of the prompt, or of a sequence; a list tries each: 64,192");
    flags.seconds("seconds", pass_.seconds, "how long to measure each");
    flags.option("least", pass_.least, "minimum number of runs");
    flags.option("format", format_, "table, md, csv, json or jsonl");
    flags.flag("json", pass_.json, "the same as --format json");
    flags.flag("forward", forward_,
               "time forward passes that score every token, instead of a prompt and single tokens");
    flags.flag("train", pass_.train, "time training steps instead");
    flags.option("batch", pass_.sequences, "with --forward or --train: batch size");
    flags.option("memory", pass_.memory, "with --forward or --train: memory length, completely filled");
    flags.flag("recompute", pass_.recompute,
               "with --forward: recompute keys and values of the memory, as reference code does");
    flags.option("dropout", pass_.dropout, "with --train: sets every dropout rate; default: the recipe's");
    flags.option("optimizer", pass_.optimizer,
                 "with --train: " + train::optimizers().names() + "; default: the recipe's");
    flags.flag("profile", pass_.profile, "with --forward or --train: time per kind of op");
  }

  void run() override {
    if (pass_.least < 1 || pass_.least > kMostRuns)
      throw usage_error("bench: --least is ", pass_.least, "; it must be from 1 to ", kMostRuns);
    const std::vector<int64_t> lengths = parse_list(length_, "bench: --length");
    if (pass_.train || forward_) return pass(lengths);
    if (pass_.dropout || !pass_.optimizer.empty())
      throw usage_error("bench: --dropout and --optimizer are for training steps; add --train");
    if (pass_.memory != 0 || pass_.sequences != 1 || pass_.recompute || pass_.profile)
      throw usage_error(
          "bench: --batch, --memory, --recompute and --profile are for passes; add --forward or --train");
    sessions(lengths);
  }

 private:
  void pass(const std::vector<int64_t>& lengths) {
    if (names_.size() > 1 || lengths.size() > 1)
      throw usage_error("bench: --forward and --train take one model and one length at a time");
    if (format_ != "table")
      throw usage_error("bench: --format is for prompts and steps; --forward and --train have --json");
    pass_.name = names_[0];
    pass_.length = lengths[0];
    bench_pass(pass_);
  }

  // Interleaved, so that a busy moment of the machine affects all of them.
  void sessions(const std::vector<int64_t>& lengths) {
    const auto format = pass_.json ? Format::kJson : enum_from_name<Format>(format_);
    std::vector<Subject> subjects;
    std::map<std::string, int> called;  // files in two folders may have the same name
    for (const std::string& name : names_) ++called[subjects.emplace_back(load_subject(name)).recipe.name];
    for (size_t i = 0; i < subjects.size(); ++i) {
      if (called[subjects[i].recipe.name] > 1) subjects[i].recipe.name = names_[i];
    }
    std::vector<Candidate> candidates;
    for (const Subject& subject : subjects) {
      for (const int64_t length : lengths) {
        const spec::ModelSpec& spec = subject.recipe.model;
        if (length < 1 || (spec.positions == Positions::kLearned && length > spec.embedding.context))
          throw usage_error(
              "bench: --length is ", length, "; it must be from 1",
              spec.positions == Positions::kLearned
                  ? text(" to the ", spec.embedding.context, " positions of ", subject.recipe.name)
                  : " on");
        for (const int64_t count : threads) {
          candidates.push_back({&subject, count, length, {}});
          if (subject.folder) candidates.back().source = source_of(*subject.folder);
        }
      }
    }
    // A process that serves a model does not load the library of matrix products; the yardsticks below do.
    const int64_t program = resident_bytes();
    kernels::warm_up_gemm();
    const double busy = measure::load_of_others(), peak = measure::peak_flops_now();
    {
      ProgressLine line;
      const StopSignals signals;
      size_t done = 0;
      for (int round = 0; round < kRounds; ++round) {
        for (Candidate& c : candidates) {
          set_thread_count(static_cast<int>(c.threads));
          measure::sample_session(c.subject->recipe.model, c.serving(), c.source ? &*c.source : nullptr,
                                  pass_.seconds / kRounds,
                                  static_cast<int>((pass_.least + kRounds - 1) / kRounds), c.samples);
          ++done;
          line.show(text("measuring: ", done, " of ", candidates.size() * kRounds),
                    done == candidates.size() * kRounds);
          if (StopSignals::asked()) throw interrupted_error("interrupted");
        }
      }
    }
    set_thread_count(static_cast<int>(threads.front()));
    std::vector<Json> rows;
    for (const Candidate& c : candidates) rows.push_back(to_json(c, program));
    print(rows, format);
    warn(candidates, busy, peak);
  }

  static void warn(const std::vector<Candidate>& candidates, double busy, double peak) {
    for (const Candidate& c : candidates) {
      const int64_t wild = measure::outliers(c.samples.prompt) + measure::outliers(c.samples.step);
      if (wild > 0)
        std::fprintf(stderr, "%s, %s, length %lld: %lld of %zu runs took more than twice the median\n",
                     c.subject->recipe.name.c_str(), format_plural(c.threads, "thread").c_str(),
                     static_cast<long long>(c.length), static_cast<long long>(wild),
                     c.samples.prompt.size() + c.samples.step.size());
    }
    busy = std::max(busy, measure::load_of_others());
    if (busy > 0.2)
      std::fprintf(
          stderr,
          "other programs used %.1f cores, so these times are too long; measure again on a quiet machine\n",
          busy);
    const double now = measure::peak_flops_now();
    if (std::abs(now / peak - 1) > 0.15)
      std::fprintf(stderr,
                   "the processor did matrix products %.0f%% %s at the end than at the start: it is "
                   "throttled or shared\n",
                   100 * std::abs(now / peak - 1), now < peak ? "slower" : "faster");
  }

  std::vector<std::string> names_;
  std::string length_ = "192", format_ = "table";
  bool forward_ = false;
  PassRequest pass_;
};

}  // namespace

VerbEntry bench_verb() {
  return entry<Bench>(
      "bench",
      "Times models on this machine: loading, a prompt, token by token; or passes and training steps.",
      {"heed bench txl-3m-bytes par-3m-bytes srupp-3m-bytes --length 64,192 -t 1,2",
       "heed bench gpt2-124m --forward --length 192 --profile"});
}

}  // namespace heed::cli
