// Text that a model is given to continue, for generate and predict.
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "heed/cli/subject.h"
#include "heed/infer/serving.h"

namespace heed::cli {

inline constexpr const char* kStandardInput = "standard input";

// The text of -p, or of the file of -f; "-" is standard input for both. The line end that ends a file does
// not belong to its prompt. `what` starts every message.
std::string prompt_text(const std::string& prompt, const std::string& file, const std::string& what);
// The next line of a file without its end; nothing after the last.
std::optional<std::string> next_line(std::FILE* file = stdin, const std::string& name = kStandardInput);

// Never empty: without a prompt it is the end of an earlier text, or the first word of the vocabulary.
std::vector<int32_t> prompt_tokens(const data::Tokenizer& tokenizer, const std::string& prompt,
                                   const std::string& what);

inline constexpr const char* kMemoryMeaning =
    "number of previous tokens that attention can see; 0: the model's own";
// `memory` as asked for with --memory. `prompt`: its tokens, if they are known; they are read at once unless
// they are many.
infer::Session session_of(const Subject& subject, int64_t memory, const std::string& what,
                          std::optional<size_t> prompt = {});

// How many tokens of a prompt are not read because the model has too few positions. If there are any, a
// sentence on standard error says so.
int64_t report_cut(const infer::Session& session, const Subject& subject, size_t prompt_tokens);

}  // namespace heed::cli
