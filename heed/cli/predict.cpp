#include "heed/cli/predict.h"

#include <cmath>
#include <cstdio>
#include <optional>

#include "heed/cli/prompt.h"
#include "heed/data/tokenizer.h"
#include "heed/infer/writer.h"

namespace heed::cli {
namespace {

// On one line, with U+FFFD for bytes that are not text: a token may be half a character.
std::string dumped(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

class Predict : public Verb {
 public:
  void declare(Flags& flags) override {
    flags.positional("model", name_, "folder of a model or of a run", true);
    flags.option(
        "p,prompt", prompt_,
        "prompt; without it, each line of standard input is a prompt of its own, answered with one line");
    flags.option("k", count_, "number of tokens to show, the most likely first");
    flags.option("memory", memory_, kMemoryMeaning);
    flags.alias("memory", "ctx-size");
    flags.flag("json", json_, "print JSON, one line per answer");
  }

  void run() override {
    const Subject subject = load_trained(name_);
    if (count_ < 1) throw usage_error("predict: -k is ", count_, "; it must be at least 1");
    const auto tokenizer = data::load_tokenizer(subject.folder->tokenizer_path());
    check_vocabulary(subject, *tokenizer);
    infer::Session session = session_of(subject, memory_, "predict");
    if (!prompt_) return answer_lines(session, subject, *tokenizer);
    const Json answer = predict(session, subject, *tokenizer, prompt_text(*prompt_, "", "predict"));
    print(json_ ? dumped(answer) + "\n" : in_words(answer, "\n"));
  }

 private:
  static void print(const std::string& text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  }

  Json predict(infer::Session& session, const Subject& subject, const data::Tokenizer& tokenizer,
               const std::string& prompt) const {
    const std::vector<int32_t> ids = prompt_tokens(tokenizer, prompt, "predict");
    const int64_t cut = report_cut(session, subject, ids.size());
    session.restart();
    const auto scores = session.feed(ids).first(static_cast<size_t>(tokenizer.size()));
    Json predictions = Json::array();
    for (const auto& [token, log_probability] : infer::most_likely(scores, count_))
      predictions.push_back({{"id", token},
                             {"text", infer::added_bytes(tokenizer, ids.back(), token)},
                             {"probability", std::exp(log_probability)},
                             {"logprob", log_probability}});
    return {{"prompt_tokens", ids.size()}, {"prompt_tokens_cut", cut}, {"predictions", predictions}};
  }

  // `0.4231 " the"` for each token; the text is quoted as in JSON.
  static std::string in_words(const Json& answer, const char* after_each) {
    std::string all;
    for (const Json& token : answer["predictions"]) {
      char probability[32];
      std::snprintf(probability, sizeof probability, "%.4f ", token["probability"].get<double>());
      all += probability + dumped(token["text"]) + after_each;
    }
    return all;
  }

  // A line that the model cannot read has its answer too, so that answers stay beside their lines.
  void answer_lines(infer::Session& session, const Subject& subject, const data::Tokenizer& tokenizer) const {
    int64_t lines = 0, refused = 0;
    std::string reason;
    while (const std::optional<std::string> line = next_line()) {
      ++lines;
      try {
        const Json answer = predict(session, subject, tokenizer, *line);
        print((json_ ? dumped(answer) : in_words(answer, "\t")) + "\n");
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::kUsage) throw;
        print(json_ ? dumped({{"error", error.what()}}) + "\n" : "error\n");
        if (refused++ == 0) reason = error.what();
      }
    }
    if (refused > 0)
      throw usage_error("predict: ", refused, " of ", lines, " lines could not be read; the first: ", reason);
  }

  std::string name_;
  std::optional<std::string> prompt_;
  int64_t count_ = 5, memory_ = 0;
  bool json_ = false;
};

}  // namespace

VerbEntry predict_verb() {
  return entry<Predict>("predict", "Shows the most likely next tokens of a text, with their probabilities.",
                        {"heed predict run -p \"In the\" -k 5", "echo \"In the\" | heed predict run --json"});
}

}  // namespace heed::cli
