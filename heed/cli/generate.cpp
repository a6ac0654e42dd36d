#include "heed/cli/generate.h"

#include <cstdio>

#include "heed/base/clock.h"
#include "heed/base/units.h"
#include "heed/cli/settings_flags.h"
#include "heed/cli/stop_signals.h"
#include "heed/cli/subject.h"
#include "heed/data/tokenizer.h"
#include "heed/infer/writer.h"

namespace heed::cli {
namespace {

void print(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

class Generate : public Verb {
 public:
  void declare(Flags& flags) override {
    flags.positional("model", name_, "folder of a model or of a run", true);
    flags.option("p,prompt", prompt_, "text to continue");
    flags.option("n,tokens", count_, "maximum number of tokens to generate");
    flags.option("memory", memory_,
                 "tokens that attention sees before the current one, 0 for the model's own");
    flags.flag("ignore-end", ignore_end_, "continue after the token that ends a text");
    flags.flag("no-prompt", no_prompt_, "print only the new text");
    flags.flag("json", json_, "print JSON at the end");
    sampling_.declare(flags);
  }

  void run() override {
    const Subject subject = load_trained(name_);
    if (memory_ > kMostMemory)
      throw usage_error("generate: --memory is ", memory_, "; it must be from 1 to ", kMostMemory,
                        ", or 0 for the model's own");
    if (count_ < 1) throw usage_error("generate: -n is ", count_, "; it must be at least 1");
    const auto tokenizer = data::load_tokenizer(subject.folder->tokenizer_path());
    check_vocabulary(subject, *tokenizer);
    infer::Sampler sampler(sampling_.over({}, "generate"));
    std::vector<int32_t> ids = encode(*tokenizer);
    // Without a prompt: the end of an earlier text, or the first word of the vocabulary.
    if (ids.empty()) ids.push_back(tokenizer->end() >= 0 ? tokenizer->end() : 0);
    infer::Session session(
        subject.recipe.model, memory_ > 0 ? memory_ : infer::usual_memory(subject.recipe),
        [&](const std::string& name, const Tensor& into) { subject.folder->read(name, into); });
    const StopSignals signals;
    std::string all;
    const auto write = [&](const std::string& more) {
      if (json_) {
        all += more;
      } else {
        print(more);
      }
    };
    if (!no_prompt_) write(prompt_);
    const size_t given = ids.size();
    const double begin = now_seconds();
    infer::Writer writer(session, sampler, *tokenizer, std::move(ids));
    const double prompted = now_seconds();
    while (writer.written() < count_ && !StopSignals::asked()) {
      const auto more = writer.next(ignore_end_);
      if (!more) break;
      write(*more);
    }
    write(writer.finish());
    const double end = now_seconds();
    if (json_) {
      const Json json = {{"text", all},
                         {"prompt_tokens", given},
                         {"prompt_seconds", prompted - begin},
                         {"new_tokens", writer.written()},
                         {"new_seconds", end - prompted},
                         {"memory_bytes", session.memory().peak()}};
      all = json.dump(2, ' ', false, Json::error_handler_t::replace);
      print(all + "\n");
    } else {
      print("\n");
    }
    std::fprintf(stderr, "tokens: %zu of the prompt in %s, %lld new at %.1f/s; %s of memory\n", given,
                 format_seconds(prompted - begin).c_str(), static_cast<long long>(writer.written()),
                 static_cast<double>(writer.written()) / (end - prompted),
                 format_bytes(session.memory().peak()).c_str());
    if (StopSignals::asked()) throw interrupted_error("interrupted");
  }

 private:
  static constexpr int64_t kMostMemory = 1 << 24;

  std::vector<int32_t> encode(const data::Tokenizer& tokenizer) const {
    std::vector<int32_t> ids;
    try {
      tokenizer.encode(prompt_, ids);
    } catch (const Error& error) {
      throw usage_error("generate: this model cannot read the prompt: ", error.what());
    }
    // The word tokenizer ends every text with an end of line; a prompt continues.
    if (!ids.empty() && ids.back() == tokenizer.end() && !prompt_.ends_with('\n') &&
        tokenizer.decode(ids).ends_with('\n'))
      ids.pop_back();
    return ids;
  }

  std::string name_, prompt_;
  int64_t count_ = 200, memory_ = 0;
  bool ignore_end_ = false, no_prompt_ = false, json_ = false;
  SettingsFlags<infer::SamplingSpec> sampling_;
};

}  // namespace

VerbEntry generate_verb() {
  return entry<Generate>("generate", "Continues a text, token by token.",
                         {"heed generate run -p \"In the beginning\" -n 200 --temperature 0.7",
                          "heed generate run -p \"In the beginning\" --top-k 20 --seed 7"});
}

}  // namespace heed::cli
