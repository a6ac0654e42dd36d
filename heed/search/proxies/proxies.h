// Scores that stand for a model's quality before it is trained: higher is better. A new proxy is one file and
// one line in proxies.cpp.
#pragma once

#include <string>

#include "heed/base/registry.h"
#include "heed/spec/model_spec.h"

namespace heed::search {

struct Proxy {
  std::string name;
  std::string meaning;
  // Of a model that reads segments of `length` tokens.
  double (*score)(const spec::ModelSpec& model, int64_t length);
  // The same from sizes alone, rising with the decoder; null where they do not tell.
  double (*of_counts)(int64_t decoder, int64_t total, int64_t width, int64_t embedding_width) = nullptr;
};
const Registry<Proxy>& proxies();

}  // namespace heed::search
