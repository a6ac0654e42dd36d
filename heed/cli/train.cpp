#include "heed/cli/train.h"

#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstdio>

#include "heed/base/clock.h"
#include "heed/base/process.h"
#include "heed/base/units.h"
#include "heed/data/corpus.h"
#include "heed/graph/count.h"
#include "heed/graph/plan.h"
#include "heed/train/training.h"

namespace heed::cli {
namespace {

volatile std::sig_atomic_t interrupted = 0;

// One line that is rewritten on a terminal, a line now and then elsewhere.
class ProgressLine {
 public:
  void show(const std::string& line, bool last) {
    const bool terminal = isatty(STDERR_FILENO);
    const double now = now_seconds();
    if (!last && now - shown_ < (terminal ? 0.2 : 5.0)) return;
    shown_ = now;
    std::fprintf(stderr, terminal ? "\r\033[K%s%s" : "%s%s", line.c_str(), terminal && !last ? "" : "\n");
    std::fflush(stderr);
  }

 private:
  double shown_ = 0;
};

class Train : public Verb {
 public:
  void declare(Flags& flags) override {
    flags.positional("recipe", recipe_, "name of a recipe or a file", true);
    flags.option("data", data_, "a text file; its bytes are the tokens");
    flags.flag("dry-run", dry_run_, "state parameters, memory and FLOPs, then stop");
    // Every setting of the training, by its own name.
    training_.visit([&](const std::string& name, auto& member, const char* meaning) {
      std::string dashed = name;
      for (char& c : dashed) c = c == '_' ? '-' : c;
      if constexpr (std::is_same_v<decltype(member), bool&>) {
        flags.flag(dashed, member, meaning);
      } else {
        flags.option(dashed, member, meaning);
      }
    });
  }

  void run() override {
    const spec::ModelSpec spec = spec::load_model_spec(recipe_);
    const auto built = train::build_training_graph(spec, training_);
    const graph::Count count = graph::count(*built.graph);
    graph::Graph scoring;
    scoring.mark_output(model::gpt2_loss(scoring, spec, {training_.batch, training_.length}, false).loss);
    scoring.tidy();
    graph::Memory memory = graph::plan(*built.graph).memory;
    memory.arena += graph::plan(scoring).memory.arena;  // the evaluator's stands beside the trainer's
    std::fprintf(dry_run_ ? stdout : stderr,
                 "%s: %s parameters, a step of %lld x %lld tokens is %sFLOP in %s of memory\n",
                 recipe_.c_str(), format_count(static_cast<double>(count.parameters)).c_str(),
                 static_cast<long long>(training_.batch), static_cast<long long>(training_.length),
                 format_count(count.total.flops).c_str(), format_bytes(memory.peak()).c_str());
    if (memory.peak() > available_memory()) {
      throw failure("train: ", format_bytes(memory.peak()), " are needed, ", format_bytes(available_memory()),
                    " are free; choose a smaller --batch or --length");
    }
    if (dry_run_) return;
    if (data_.empty()) throw usage_error("train: give a text to learn from with --data FILE");
    if (spec.vocabulary < 256)
      throw usage_error("train: tokens are bytes, so the vocabulary must be at least 256; the recipe has ",
                        spec.vocabulary);
    learn(spec, data::ByteCorpus(data_));
  }

 private:
  void learn(const spec::ModelSpec& spec, const data::ByteCorpus& corpus) {
    const data::StreamBatches batches(corpus.train(), training_.batch, training_.length,
                                      "the training part of " + data_);
    const data::StreamBatches valid(corpus.valid(), training_.batch, training_.length,
                                    "the held-out twentieth of " + data_);
    graph::Variables variables;
    train::Trainer trainer(spec, training_, variables);
    train::Evaluator evaluator(spec, {training_.batch, training_.length}, variables);
    std::signal(SIGINT, [](int) {
      interrupted = 1;
      std::signal(SIGINT, SIG_DFL);  // a second one stops at once
    });
    ProgressLine progress;
    const double begin = now_seconds();
    const auto per_step = static_cast<double>(training_.batch * training_.length);
    double average = 0;
    int64_t step = 0;
    while (step < training_.steps && !interrupted) {
      batches.fill(step, trainer.tokens().ints(), trainer.targets().ints());
      const train::StepResult result = trainer.step(++step);
      average = step == 1 ? result.loss : 0.95 * average + 0.05 * result.loss;
      const double elapsed = now_seconds() - begin, rate = static_cast<double>(step) / elapsed;
      char line[200];
      std::snprintf(line, sizeof line,
                    "step %lld/%lld  loss %.4f  %.3f bits/byte  norm %.2f  %.0f tokens/s  ETA %s",
                    static_cast<long long>(step), static_cast<long long>(training_.steps), average,
                    average / std::log(2.0), result.gradient_norm, rate * per_step,
                    format_seconds(static_cast<double>(training_.steps - step) / rate).c_str());
      progress.show(line, step == training_.steps || interrupted);
    }
    double loss = 0;
    const int64_t count = std::min<int64_t>(valid.batches(), 20);
    for (int64_t i = 0; i < count; ++i) {
      valid.fill(i, evaluator.tokens().ints(), evaluator.targets().ints());
      loss += evaluator.run() / static_cast<double>(count);
    }
    std::printf(
        "trained %lld steps (%s tokens) in %s: held-out text costs %.3f bits per byte (%.4f nats) over %lld "
        "tokens\n",
        static_cast<long long>(step), format_count(per_step * static_cast<double>(step)).c_str(),
        format_seconds(now_seconds() - begin).c_str(), loss / std::log(2.0), loss,
        static_cast<long long>(count * training_.batch * training_.length));
    if (interrupted) throw Error("interrupted", kInterrupted);
  }

  std::string recipe_, data_;
  bool dry_run_ = false;
  train::TrainingSpec training_;
};

}  // namespace

VerbEntry train_verb() {
  return {"train", "Trains a model on a text.", "heed train gpt2-bytes-3m --data book.txt --steps 300",
          []() -> std::unique_ptr<Verb> { return std::make_unique<Train>(); }};
}

}  // namespace heed::cli
