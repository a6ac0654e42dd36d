#include "heed/cli/prompt.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "heed/base/system_error.h"
#include "heed/infer/writer.h"

namespace heed::cli {
namespace {

constexpr int64_t kMostMemory = 1 << 24;
// Products are as fast with fewer rows, and working memory grows with them.
constexpr int64_t kLongestChunk = 192;

void drop_line_end(std::string& text) {
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
}

void check_read(std::FILE* file, const std::string& name) {
  if (std::ferror(file)) throw usage_error(name, " cannot be read: ", system_reason(errno));
}

// All of it; it may be a pipe.
std::string content_of(std::FILE* file, const std::string& name) {
  std::string all;
  char block[1 << 12];
  while (const size_t read = std::fread(block, 1, sizeof block, file)) all.append(block, read);
  check_read(file, name);
  return all;
}

}  // namespace

std::string prompt_text(const std::string& prompt, const std::string& file, const std::string& what) {
  if (!file.empty() && !prompt.empty())
    throw usage_error(what, ": -p and -f both give a prompt; give one of them");
  std::string text;
  if (prompt == "-" || file == "-") {
    text = content_of(stdin, kStandardInput);
  } else if (!file.empty()) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> opened(std::fopen(file.c_str(), "rb"), std::fclose);
    if (!opened) throw usage_error(what, ": ", file, " cannot be read: ", system_reason(errno));
    text = content_of(opened.get(), file);
  } else {
    return prompt;
  }
  drop_line_end(text);
  return text;
}

std::optional<std::string> next_line(std::FILE* file, const std::string& name) {
  std::string line;
  int c;
  while ((c = std::getc(file)) != EOF && c != '\n') line += static_cast<char>(c);
  check_read(file, name);
  if (c == EOF && line.empty()) return std::nullopt;
  drop_line_end(line);
  return line;
}

std::vector<int32_t> prompt_tokens(const data::Tokenizer& tokenizer, const std::string& prompt,
                                   const std::string& what) {
  std::vector<int32_t> ids;
  try {
    tokenizer.encode(prompt, ids);
  } catch (const Error& error) {
    throw usage_error(what, ": this model cannot read the prompt: ", error.what());
  }
  // The word tokenizer ends every text with an end of line; a prompt continues.
  if (!ids.empty() && ids.back() == tokenizer.end() && !prompt.ends_with('\n') &&
      tokenizer.decode(ids).ends_with('\n'))
    ids.pop_back();
  if (ids.empty()) ids.push_back(tokenizer.end() >= 0 ? tokenizer.end() : 0);
  return ids;
}

infer::Session session_of(const Subject& subject, int64_t memory, const std::string& what,
                          std::optional<size_t> prompt) {
  if (memory > kMostMemory)
    throw usage_error(what, ": --memory is ", memory, "; it must be from 1 to ", kMostMemory,
                      ", or 0 for the model's own");
  infer::Serving serving{memory > 0 ? memory : infer::usual_memory(subject.recipe)};
  if (prompt) serving.chunk = std::clamp<int64_t>(static_cast<int64_t>(*prompt), 1, kLongestChunk);
  return infer::Session(subject.recipe.model, serving, source_of(*subject.folder));
}

int64_t report_cut(const infer::Session& session, const Subject& subject, size_t prompt_tokens) {
  const auto given = static_cast<int64_t>(prompt_tokens);
  const int64_t read = session.tokens_read(given);
  if (read < given)
    std::fprintf(stderr,
                 "the prompt is cut: it has %lld tokens and the model %lld positions; only the last %lld "
                 "tokens are used\n",
                 static_cast<long long>(given),
                 static_cast<long long>(subject.recipe.model.embedding.context),
                 static_cast<long long>(read));
  return given - read;
}

}  // namespace heed::cli
