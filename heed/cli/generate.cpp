#include "heed/cli/generate.h"

#include <unistd.h>

#include <cstdio>
#include <optional>

#include "heed/base/clock.h"
#include "heed/base/process.h"
#include "heed/base/units.h"
#include "heed/cli/prompt.h"
#include "heed/cli/settings_flags.h"
#include "heed/cli/stop_signals.h"
#include "heed/data/tokenizer.h"
#include "heed/infer/stop_strings.h"
#include "heed/infer/writer.h"

namespace heed::cli {
namespace {

void print(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

// Dumped with U+FFFD for bytes that are not text: a token may be half a character.
std::string dumped(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace); }

// What was written after a prompt.
struct Continuation {
  std::string text;
  std::vector<infer::WrittenToken> tokens;
  const char* finish_reason = "length";
  double seconds = 0;
};

class Generate : public Verb {
 public:
  void declare(Flags& flags) override {
    flags.positional("model", name_, "folder of a model or of a run", true);
    flags.option("p,prompt", prompt_, "text to continue (the prompt); - reads it from standard input");
    flags.path("f,file", file_, "read the prompt from this file; - is standard input");
    flags.flag(
        "i,interactive", interactive_,
        "read lines from standard input: each is appended to the text so far, and the model continues it");
    flags.option("n,tokens", count_, "maximum number of tokens to generate");
    flags.alias("tokens", "n-predict");
    flags.options("stop", stop_, "stop before this string; repeatable", "TEXT");
    flags.option("memory", memory_, kMemoryMeaning);
    flags.alias("memory", "ctx-size");
    flags.flag("ignore-end", ignore_end_, "do not stop at the end-of-text token");
    flags.flag("no-prompt", no_prompt_, "print only the new text");
    flags.flag("json", json_, "print JSON at the end: text, and each token with its log-probability");
    sampling_.declare(flags);
  }

  void run() override {
    const Subject subject = load_trained(name_);
    check();
    const auto tokenizer = data::load_tokenizer(subject.folder->tokenizer_path());
    check_vocabulary(subject, *tokenizer);
    infer::Sampler sampler(sampling_.over({}, "generate"));
    infer::StopStrings stops(stop_);
    const std::string prompt = prompt_text(prompt_, file_, "generate");
    std::vector<int32_t> ids = prompt_tokens(*tokenizer, prompt, "generate");
    infer::Session session =
        session_of(subject, memory_, "generate", interactive_ ? std::nullopt : std::optional(ids.size()));
    if (interactive_) return converse(session, sampler, *tokenizer, stops, prompt);
    const int64_t cut = report_cut(session, subject, ids.size());
    const StopSignals signals;
    if (!no_prompt_ && !json_) print(prompt);
    const size_t given = ids.size();
    const double begin = now_seconds();
    infer::Writer writer(session, sampler, *tokenizer, std::move(ids));
    const double prompt_seconds = now_seconds() - begin;
    const Continuation written = continue_text(writer, stops);
    if (json_) {
      Json tokens = Json::array();
      for (const infer::WrittenToken& token : written.tokens)
        tokens.push_back({{"id", token.token}, {"text", token.bytes}, {"logprob", token.log_probability}});
      print(dumped({{"text", no_prompt_ ? written.text : prompt + written.text},
                    {"prompt_tokens", given},
                    {"prompt_tokens_cut", cut},
                    {"prompt_seconds", prompt_seconds},
                    {"new_tokens", writer.written()},
                    {"new_seconds", written.seconds},
                    {"finish_reason", written.finish_reason},
                    {"tokens", tokens},
                    {"memory_bytes", process_memory(session, *tokenizer)},
                    {"peak_resident_bytes", peak_resident_bytes()}}));
    }
    print("\n");
    std::fprintf(stderr, "prompt: %zu tokens in %s; generated: %lld at %.1f tokens/s; memory: %s\n", given,
                 format_seconds(prompt_seconds).c_str(), static_cast<long long>(writer.written()),
                 static_cast<double>(writer.written()) / written.seconds,
                 format_bytes(process_memory(session, *tokenizer)).c_str());
    if (StopSignals::asked()) throw interrupted_error("interrupted");
  }

 private:
  // As a limit on memory counts it.
  static int64_t process_memory(const infer::Session& session, const data::Tokenizer& tokenizer) {
    return session.memory().peak() +
           infer::memory_beside_model(std::string(tokenizer.kind()), tokenizer.size());
  }

  void check() const {
    if (count_ < 1) throw usage_error("generate: -n is ", count_, "; it must be at least 1");
    if (interactive_ && (prompt_ == "-" || file_ == "-"))
      throw usage_error(
          "generate: --interactive reads standard input, so the prompt cannot come from there; give -p TEXT "
          "or -f FILE");
    if (interactive_ && json_) throw usage_error("generate: --json and --interactive cannot be combined");
  }

  // Up to the number of tokens, the end of the text, a stop string or a signal.
  Continuation continue_text(infer::Writer& writer, infer::StopStrings& stops) const {
    Continuation written;
    const auto take = [&](const std::string& more) {
      written.text += more;
      if (!json_) print(more);
    };
    const double begin = now_seconds();
    for (int64_t i = 0; i < count_ && !StopSignals::asked() && !stops.found(); ++i) {
      const auto more = writer.next(ignore_end_, json_ ? &written.tokens : nullptr);
      if (!more) {
        written.finish_reason = "end";
        break;
      }
      take(stops.push(*more));
    }
    take(stops.push(writer.finish()));
    if (stops.found()) {
      written.finish_reason = "stop";
    } else if (StopSignals::asked()) {
      written.finish_reason = "interrupted";
    }
    take(stops.finish());
    written.seconds = now_seconds() - begin;
    return written;
  }

  // One text, to which the user and the model add in turn.
  void converse(infer::Session& session, infer::Sampler& sampler, const data::Tokenizer& tokenizer,
                infer::StopStrings& stops, const std::string& prompt) const {
    const bool terminal = ::isatty(STDIN_FILENO) == 1;
    std::optional<infer::Writer> writer;
    const auto answer = [&](const std::string& more) {
      const std::vector<int32_t> ids = prompt_tokens(tokenizer, more, "generate");
      const StopSignals signals;  // only now: a signal while a line is awaited ends the program
      if (writer) {
        writer->read(ids);
      } else {
        writer.emplace(session, sampler, tokenizer, ids);
      }
      continue_text(*writer, stops);
      print("\n");
    };
    if (!prompt.empty()) {
      if (!no_prompt_) print(prompt);
      answer(prompt);
    }
    for (;;) {
      if (terminal) std::fprintf(stderr, "> ");
      const std::optional<std::string> line = next_line();
      if (!line) break;
      answer(writer ? "\n" + *line : *line);
    }
  }

  std::string name_, prompt_, file_;
  std::vector<std::string> stop_;
  int64_t count_ = 200, memory_ = 0;
  bool interactive_ = false, ignore_end_ = false, no_prompt_ = false, json_ = false;
  SettingsFlags<infer::SamplingSpec> sampling_;
};

}  // namespace

VerbEntry generate_verb() {
  return entry<Generate>("generate", "Continues a text, token by token.",
                         {"heed generate run -p \"In the beginning\" -n 200 --temperature 0.7",
                          "heed generate run -p \"In the beginning\" --top-k 20 --seed 7",
                          "heed generate run --interactive --stop \"The end\"",
                          "echo \"In the beginning\" | heed generate run -p - --json"});
}

}  // namespace heed::cli
