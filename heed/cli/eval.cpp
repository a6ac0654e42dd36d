#include "heed/cli/eval.h"

#include <algorithm>
#include <cstdio>
#include <optional>

#include "heed/base/clock.h"
#include "heed/base/files.h"
#include "heed/base/units.h"
#include "heed/cli/loss_units.h"
#include "heed/cli/progress_line.h"
#include "heed/cli/settings_flags.h"
#include "heed/cli/subject.h"
#include "heed/data/readers.h"
#include "heed/train/corpus_tokens.h"
#include "heed/train/evaluation.h"
#include "heed/train/run.h"
#include "heed/train/tasks.h"

namespace heed::cli {
namespace {

class Eval : public Verb {
 public:
  void declare(Flags& flags) override {
    flags.positional("model", name_, "folder of a model or of a run", true);
    flags.path("data", data_, "a text file or a folder of them");
    flags.option("part", part_, "part of the text to score: train, valid or test");
    flags.option("reader", reader_, "how the text is split: " + data::readers().names());
    flags.path("cache", cache_, "folder that caches the tokenized text; default: a temporary one");
    flags.option("max-tokens", most_, "score at most this many tokens; 0: all");
    flags.path("per-token", per_token_, "write the loss of each token to this new file (docs/files.md)");
    flags.flag("json", json_, "print JSON");
    protocol_.declare(flags);
  }

  void run() override {
    const Subject subject = load_trained(name_);
    if (data_.empty()) throw usage_error("eval: give a text with --data PATH");
    if (std::filesystem::exists(per_token_))
      throw usage_error("eval: ", per_token_, " exists; give a new file with --per-token");
    const auto split = enum_from_name<data::Split>(part_);
    spec::DataSpec data = subject.recipe.data;
    if (!reader_.empty()) data.reader = reader_;
    spec::EvaluationSpec protocol = protocol_.over(subject.recipe.evaluation, "eval");
    validate(protocol);
    std::optional<TemporaryFolder> temporary;
    if (cache_.empty()) temporary.emplace();
    const auto tokens =
        train::open_tokens_of_model(data, data_, subject.folder->tokenizer_path(),
                                    temporary ? temporary->path() : std::filesystem::path(cache_));
    for (const std::string& note : tokens.corpus.notes()) std::fprintf(stderr, "%s\n", note.c_str());
    check_vocabulary(subject, *tokens.tokenizer);
    const data::TokenStream& stream = tokens.stream(split);
    // A longer segment than the text would be padding, at a quadratic cost.
    protocol.length = std::clamp<int64_t>(stream.size() / protocol.batch - 1, 1, protocol.length);
    const train::Task& task = train::task_of(subject.recipe.model, subject.recipe.training);
    const auto batches = task.scoring_batches(protocol, tokens, split);
    const auto parameters = std::make_shared<graph::NamedTensors>();
    train::Scorer scorer(task, subject.recipe.model, protocol, parameters, model::WeightForm::kPacked);
    model::fill_weights(scorer.graph(), scorer.weights(), *parameters, source_of(*subject.folder));
    ProgressLine progress;
    const double begin = now_seconds();
    const int64_t at_once = protocol.batch * protocol.length;
    const int64_t all =
        most_ > 0 ? std::min(batches->segments(), (most_ + at_once - 1) / at_once) : batches->segments();
    std::ostream* per_token = nullptr;
    const auto after_segment = [&](int64_t done) {
      if (per_token) write_losses(*per_token, *batches, done - 1, scorer);
      const double seconds = now_seconds() - begin;
      char line[100];
      std::snprintf(
          line, sizeof line, "segment %lld/%lld  %.0f tokens/s  ETA %s", static_cast<long long>(done),
          static_cast<long long>(all), static_cast<double>(done * at_once) / seconds,
          format_seconds(seconds / static_cast<double>(done) * static_cast<double>(all - done)).c_str());
      progress.show(line, done == all);
      return !per_token || per_token->good();  // write_file says what went wrong
    };
    train::Score score;
    if (per_token_.empty()) {
      score = scorer.run(*batches, most_, after_segment);
    } else {
      write_file(per_token_, [&](std::ostream& out) {
        out << "position\ttoken\tnats\n";
        per_token = &out;
        score = scorer.run(*batches, most_, after_segment);
      });
    }
    report(subject.recipe, protocol, stream, score, now_seconds() - begin);
  }

 private:
  // The counted tokens of a segment, a line each.
  static void write_losses(std::ostream& out, const data::Batches& batches, int64_t step,
                           const train::Scorer& scorer) {
    const auto targets = scorer.batch().ints("targets");
    const auto losses = scorer.losses();
    const auto length = static_cast<size_t>(batches.shape().length);
    for (size_t i = 0; i < losses.size(); ++i) {
      if (targets[i] < 0) continue;
      const auto first = batches.first_target(step, static_cast<int64_t>(i / length));
      HEED_ASSERT(first);
      char line[64];
      std::snprintf(line, sizeof line, "%lld\t%d\t%.9g\n",
                    static_cast<long long>(*first) + static_cast<long long>(i % length), targets[i],
                    static_cast<double>(losses[i]));
      out << line;
    }
  }

  void report(const spec::Recipe& recipe, const spec::EvaluationSpec& protocol,
              const data::TokenStream& stream, const train::Score& score, double seconds) const {
    const data::TextCounts& counts = stream.counts();
    if (json_) {
      const auto bits_per_byte = counts.bits_per_byte(score.mean());
      const Json json = {{"model", name_},
                         {"part", part_},
                         {"protocol", to_json(protocol)},
                         {"tokens", score.tokens},
                         {"nats_per_token", score.mean()},
                         {"perplexity", score.perplexity()},
                         {"bits_per_token", score.bits_per_token()},
                         {"bits_per_byte", bits_per_byte ? Json(*bits_per_byte) : Json()},
                         {"unknown_share", counts.unknown_share()},
                         {"seconds", seconds}};
      std::printf("%s\n", json.dump(2).c_str());
      return;
    }
    const bool bits = train::counts_bits(recipe.data);
    const std::string per_byte = format_bits_per_byte(score.mean(), counts, 4),
                      over = text(" over ", score.tokens, " tokens");
    std::printf("%s on the %s part: %s %.4f, %.4f nats per token%s\n", name_.c_str(), part_.c_str(),
                bits ? "bpc" : "perplexity", bits ? score.bits_per_token() : score.perplexity(), score.mean(),
                // The sentence on unknown words comes last.
                (counts.unknown > 0 ? over + "; " + per_byte : ", " + per_byte + over).c_str());
    std::printf("  protocol: %s; %s tokens per second\n", train::describe(protocol).c_str(),
                format_count(static_cast<double>(score.tokens) / seconds).c_str());
    if (!per_token_.empty()) std::printf("  the loss of each token: %s\n", per_token_.c_str());
  }

  std::string name_, data_, part_ = "test", reader_, cache_, per_token_;
  int64_t most_ = 0;
  bool json_ = false;
  SettingsFlags<spec::EvaluationSpec> protocol_;
};

}  // namespace

VerbEntry eval_verb() {
  return entry<Eval>("eval", "Scores a model on a text: perplexity and bits, with the evaluation protocol.",
                     {"heed eval run --data book.txt", "heed eval run --data other.txt --reader whole"});
}

}  // namespace heed::cli
