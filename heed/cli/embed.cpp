#include "heed/cli/embed.h"

#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>

#include "heed/base/clock.h"
#include "heed/base/system_error.h"
#include "heed/base/units.h"
#include "heed/cli/progress_line.h"
#include "heed/cli/prompt.h"
#include "heed/data/utf8.h"
#include "heed/infer/embedder.h"

namespace heed::cli {
namespace {

// What is read before its vectors are made: among so many lines there are always some of about one length.
constexpr size_t kLines = 512;
constexpr size_t kTokens = 1 << 14;
constexpr double kQuietSeconds = 2;  // shorter work needs no progress

// The id of a special token, which stands for itself in a text.
int32_t special_token(const data::Tokenizer& tokenizer, const char* token) {
  std::vector<int32_t> ids;
  try {
    tokenizer.encode(token, ids);
  } catch (const Error&) {
    ids.clear();
  }
  if (ids.size() != 1 || tokenizer.decode(ids) != token)
    throw usage_error(
        "embed: the tokenizer (", tokenizer.kind(), ") has no token ", token,
        ", and an encoder needs [CLS] before and [SEP] after each text; use the tokenizer that the "
        "encoder was trained with");
  return ids[0];
}

// The shortest digits that give the number back.
void append_number(float number, std::string& to) {
  char digits[32];
  to.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

class Embed : public Verb {
 public:
  void declare(Flags& flags) override {
    flags.positional("model", name_, "folder of an encoder: BERT or DistilBERT as Hugging Face has them",
                     true);
    flags.positional("file", file_, "file with one text per line; default, or -: standard input", false);
    flags.option("pool", pool_, "how the vectors of the tokens become one: mean, or first (that of [CLS])");
    flags.flag("no-normalize", raw_,
               "do not scale vectors to length 1, with which their dot products are cosines");
    flags.flag("json", json_, "print a JSON array per line instead of numbers with tabs between them");
  }

  void run() override {
    const Pooling pooling = pooling_of(pool_);
    const Subject subject = load_trained(name_);
    check_encoder(subject);
    const auto tokenizer = data::load_tokenizer(subject.folder->tokenizer_path());
    check_vocabulary(subject, *tokenizer);
    begin_ = special_token(*tokenizer, "[CLS]"), end_ = special_token(*tokenizer, "[SEP]");
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> opened(
        open(), [](std::FILE* file) { return file == stdin ? 0 : std::fclose(file); });
    const std::string source = opened.get() == stdin ? kStandardInput : file_;
    infer::Embedder embedder(subject.recipe.model, pooling, !raw_, source_of(*subject.folder));
    start_ = now_seconds();
    std::vector<std::vector<int32_t>> texts;
    size_t tokens = 0;  // of these texts
    while (const std::optional<std::string> line = next_line(opened.get(), source)) {
      ++lines_;
      if (!data::is_utf8(*line)) {
        print(embedder, texts);
        throw usage_error("embed: line ", lines_, " of ", source,
                          " is not UTF-8; the lines before it have their ",
                          "vectors. Convert the text first, for example with iconv");
      }
      texts.push_back(tokens_of(*tokenizer, *line, embedder.longest()));
      tokens += texts.back().size();
      if (texts.size() < kLines && tokens < kTokens) continue;
      print(embedder, texts);
      tokens = 0;
    }
    print(embedder, texts);
    if (now_seconds() - start_ > kQuietSeconds) progress_.show(state(), true);
    if (cut_ > 0)
      std::fprintf(stderr,
                   "%lld of %lld lines are cut: they have more than the model's %lld tokens; the first is "
                   "line %lld\n",
                   static_cast<long long>(cut_), static_cast<long long>(lines_),
                   static_cast<long long>(embedder.longest()), static_cast<long long>(first_cut_));
  }

 private:
  static Pooling pooling_of(const std::string& name) {
    try {
      return enum_from_name<Pooling>(name);
    } catch (const Error& error) {
      throw usage_error("embed: --pool: ", error.what());
    }
  }

  void check_encoder(const Subject& subject) const {
    try {
      infer::require_encoder(subject.recipe.model);
    } catch (const Error& error) {
      throw Error(error.kind(), text("embed: ", name_, ": ", error.what()));
    }
  }

  std::FILE* open() const {
    if (file_.empty() || file_ == "-") return stdin;
    std::FILE* file = std::fopen(file_.c_str(), "rb");
    if (!file) throw usage_error("embed: ", file_, " cannot be read: ", system_reason(errno));
    return file;
  }

  std::vector<int32_t> tokens_of(const data::Tokenizer& tokenizer, const std::string& line, int64_t longest) {
    std::vector<int32_t> ids = {begin_};
    tokenizer.encode(line, ids);
    if (std::ssize(ids) >= longest) {
      if (cut_++ == 0) first_cut_ = lines_;
      ids.resize(static_cast<size_t>(longest - 1));
    }
    ids.push_back(end_);
    return ids;
  }

  // Their vectors, a line for each; the texts are done then.
  void print(infer::Embedder& embedder, std::vector<std::vector<int32_t>>& texts) {
    std::string all;
    for (const std::vector<float>& vector : embedder.embed(texts)) {
      if (json_) all += '[';
      for (size_t i = 0; i < vector.size(); ++i) {
        if (i > 0) all += json_ ? ',' : '\t';
        append_number(vector[i], all);
      }
      all += json_ ? "]\n" : "\n";
    }
    std::fwrite(all.data(), 1, all.size(), stdout);
    std::fflush(stdout);
    texts.clear();
    if (!isatty(STDOUT_FILENO) && now_seconds() - start_ > kQuietSeconds) progress_.show(state(), false);
  }

  std::string state() const {
    const double seconds = now_seconds() - start_;
    return text("embed: ", lines_, " lines, ", format_count(static_cast<double>(lines_) / seconds),
                " per second");
  }

  std::string name_, file_, pool_ = "mean";
  bool raw_ = false, json_ = false;
  int32_t begin_ = 0, end_ = 0;  // [CLS] and [SEP]
  int64_t lines_ = 0, cut_ = 0, first_cut_ = 0;
  double start_ = 0;
  ProgressLine progress_;
};

}  // namespace

VerbEntry embed_verb() {
  return entry<Embed>("embed", "Turns each line of a text into a vector, with an encoder such as BERT.",
                      {"heed embed bert-folder lines.txt > vectors.tsv",
                       "heed embed bert-folder --json < lines.txt > vectors.jsonl"});
}

}  // namespace heed::cli
