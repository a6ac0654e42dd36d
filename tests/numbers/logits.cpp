// Writes the logits of a model as raw f32: after a prompt of several chunks, then after each of a few tokens.
// Used by scripts/same-numbers.
#include <cstdio>

#include "heed/infer/serving.h"
#include "heed/infer/session.h"
#include "heed/store/model_folder.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: logits MODEL_FOLDER\n");
    return 2;
  }
  try {
    const heed::store::ModelFolder folder(argv[1]);
    const heed::spec::Recipe& recipe = folder.recipe();
    heed::infer::Session session(
        recipe.model, {heed::infer::usual_memory(recipe)},
        [&](const std::string& name, const heed::Tensor& into) { folder.read(name, into); });
    std::vector<int32_t> prompt;
    for (int32_t i = 0; i < 100; ++i) prompt.push_back(i * 7 % 61);
    const auto write = [](std::span<const float> scores) {
      std::fwrite(scores.data(), sizeof(float), scores.size(), stdout);
    };
    write(session.feed(prompt));
    for (const int32_t& token : std::span(prompt).first(20)) write(session.feed({&token, 1}));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "logits: %s\n", error.what());
    return 1;
  }
}
