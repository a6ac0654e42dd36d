#include "heed/store/families.h"

namespace heed::store {

// The list of families. A new one adds one line.
const Registry<Family>& families() {
  static const Registry<Family> list("family of models", {
                                                             bert_family(),
                                                             distilbert_family(),
                                                             gpt2_family(),
                                                         });
  return list;
}

std::vector<std::string> renamed(const std::vector<Renaming>& list, const std::string& name,
                                 const std::string& before, const char* family) {
  for (const auto& [ours, theirs] : list) {
    if (!name.starts_with(ours)) continue;
    std::vector<std::string> names;
    for (const char* begin : theirs)
      names.push_back(before + begin + name.substr(std::string_view(ours).size()));
    return names;
  }
  throw usage_error("'", name, "' has no name in Hugging Face's ", family);
}

WeightName split_name(const std::string& name) {
  const std::string blocks = "blocks.";
  if (!name.starts_with(blocks)) return {-1, name};
  const size_t dot = name.find('.', blocks.size());
  return {std::stoll(name.substr(blocks.size(), dot - blocks.size())), name.substr(dot + 1)};
}

}  // namespace heed::store
