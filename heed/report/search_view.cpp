#include <cmath>
#include <map>

#include "heed/report/views.h"
#include "heed/report/worth_json.h"
#include "heed/search/block_table.h"
#include "heed/search/front.h"
#include "heed/search/proxies/proxies.h"
#include "heed/search/records.h"
#include "heed/search/worth/law_file.h"
#include "heed/spec/space_definition.h"
#include "heed/store/json_file.h"
#include "heed/store/run_folder.h"

namespace heed::report {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMoments = 50;  // at which the hypervolume is shown

// The blocks and frames of all models of a run, each once, with its cost.
class BlockIndex {
 public:
  BlockIndex(const spec::Space& by_block, const Json& table) : counted_(by_block) {
    for (const Json& stored : table.at("blocks")) {
      const Json block = with_sizes(stored);
      if (block_places_.emplace(name_of(block), block_places_.size()).second) blocks_.push_back(block);
    }
    for (const Json& frame : table.at("frames")) {
      if (frame_places_.emplace(name_of(frame), frame_places_.size()).second) frames_.push_back(frame);
    }
  }

  size_t frame(const spec::Frame& frame) {
    const auto [at, is_new] = known_frames_.try_emplace(frame);
    if (is_new)
      at->second = place(frame_places_, frames_, search::frame_json(frame, {}),
                         [&] { return search::frame_json(frame, counted_.of_frame(frame)); });
    return at->second;
  }

  size_t block(int64_t width, const spec::Block& block) {
    const spec::Layer layer = search::as_layer(block);
    const auto [at, is_new] = known_blocks_.try_emplace({width, layer});
    if (is_new)
      at->second = place(block_places_, blocks_, search::block_json(width, block, {}),
                         [&] { return search::block_json(width, block, counted_.of_layer(width, layer)); });
    return at->second;
  }

  // Of the block with the same letter, width and sizes; null if it is not known.
  Json milliseconds(const Json& like) const {
    const auto found = std::ranges::find_if(blocks_, [&](const Json& block) {
      return std::ranges::all_of(std::array{"letter", "width", "sizes"},
                                 [&](const char* name) { return block.at(name) == like.at(name); });
    });
    return found == blocks_.end() ? Json() : found->at("ms");
  }

  const Json& all_blocks() const { return blocks_; }
  const Json& all_frames() const { return frames_; }

 private:
  // blocks.json of earlier versions has sizes beside the other keys, null where a block has no such size.
  static Json with_sizes(Json block) {
    if (block.contains("sizes")) return block;
    Json sizes = Json::object();
    for (const spec::Size& size : spec::sizes()) {
      if (block.contains(size.name) && !block[size.name].is_null()) sizes[size.name] = block[size.name];
      block.erase(size.name);
    }
    block["sizes"] = sizes;
    return block;
  }

  // The identity of a part: its sizes, not its costs.
  static std::string name_of(Json part) {
    for (const char* cost : {"parameters", "bytes", "ms"}) part.erase(cost);
    return part.dump();
  }

  template <class Make>
  static size_t place(std::map<std::string, size_t>& places, Json& parts, const Json& like,
                      const Make& make) {
    const auto [at, is_new] = places.try_emplace(name_of(like), places.size());
    if (is_new) parts.push_back(make());
    return at->second;
  }

  search::GraphCosts counted_;
  std::map<std::string, size_t> block_places_, frame_places_;
  std::map<std::pair<int64_t, spec::Layer>, size_t> known_blocks_;
  std::map<spec::Frame, size_t> known_frames_;
  Json blocks_ = Json::array(), frames_ = Json::array();
};

Json limit(const Json& limits, const char* name, double factor = 1) {
  return limits.contains(name) ? Json(factor * limits.at(name).get<double>()) : Json();
}

Json empty_candidates() {
  Json lists = Json::object();
  for (const char* name : {"key", "score", "latency_ms", "step_ms", "first_token_ms", "memory", "decoder",
                           "total", "frame", "blocks", "front"})
    lists[name] = Json::array();
  return lists;
}

// A damaged database may hold values that no search writes, and they are summed below.
void check(const search::Evaluated& e, const spec::Space& space, const std::string& key) {
  validate(space.model_of(e.candidate));
  constexpr int64_t kMost = int64_t{1} << 60;
  for (const int64_t number : {e.cost.decoder, e.cost.total, e.cost.resident, e.cost.arena}) {
    if (number < 0 || number > kMost)
      throw damaged_error("heed.db: '", key, "' has a cost of ", number, "; is it damaged?");
  }
}

std::vector<search::Evaluated> read_candidates(const fs::path& run, const spec::Space& space,
                                               search::Objective objective, BlockIndex& parts, Json& lists) {
  std::vector<search::Evaluated> all;
  for (const search::RecordedEvaluation& recorded : search::read_evaluations(run)) {
    all.push_back({space.candidate_of(recorded.key), recorded.cost, recorded.score});
    check(all.back(), space, recorded.key);
    const search::Evaluated& e = all.back();
    lists["key"].push_back(recorded.key);
    lists["frame"].push_back(parts.frame(e.candidate.frame));
    Json blocks = Json::array();
    for (const spec::Layer& layer : e.candidate.layers) {
      for (const spec::Block& block : space.blocks_of(layer))
        blocks.push_back(parts.block(e.candidate.frame.width, block));
    }
    lists["blocks"].push_back(std::move(blocks));
    lists["score"].push_back(e.score);
    lists["latency_ms"].push_back(1e3 * e.cost.latency);
    lists["step_ms"].push_back(1e3 * e.cost.step);
    lists["first_token_ms"].push_back(e.cost.load > 0 ? Json(1e3 * e.cost.first_token()) : Json());
    lists["memory"].push_back(e.cost.memory());
    lists["decoder"].push_back(e.cost.decoder);
    lists["total"].push_back(e.cost.total);
  }
  lists["front"] = search::front(all, search::FrontRule::kNonDominated, objective);
  return all;
}

// Over the course of the search: of the models evaluated so far, relative to the slowest and largest of all.
Json hypervolume_of(const std::vector<search::Evaluated>& all) {
  Json told = {{"evaluations", Json::array()}, {"volume", Json::array()}};
  double latency = 0, memory = 0;
  for (const search::Evaluated& e : all) {
    latency = std::max(latency, e.cost.latency);
    memory = std::max(memory, static_cast<double>(e.cost.memory()));
  }
  for (const size_t at : thinned(all.size(), kMoments)) {
    told["evaluations"].push_back(at + 1);
    told["volume"].push_back(
        search::hypervolume(std::span(all).first(at + 1), 1.001 * latency, 1.001 * memory));
  }
  return told;
}

// Quoted as one word for a shell.
std::string shell_word(const std::string& word) {
  const bool plain = std::ranges::all_of(word, [](unsigned char c) {
    return std::isalnum(c) ||
           std::string_view("/._-+,:@%").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (plain && !word.empty() && word[0] != '-') return word;
  std::string quoted = word[0] == '-' ? "./'" : "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

Json model_json(const search::MeasuredModel& measured_model, const fs::path& run, BlockIndex& parts) {
  const Json& found = measured_model.model;
  const spec::ModelSpec model = spec::read_model_spec(found.at("spec"), "search.json");
  Json blocks = Json::array();
  for (const spec::Block& block : model.blocks()) blocks.push_back(parts.block(model.width, block));
  const Json& measured = found.at("measured_seconds");
  const double predicted = found.at("predicted_seconds");
  const auto wait = [&](const char* place) {  // earlier versions measured less
    const Json::json_pointer pointer(place);
    return found.contains(pointer) && found.at(pointer) > 0 ? Json(1e3 * found.at(pointer).get<double>())
                                                            : Json();
  };
  const std::string name = found.at("name");
  const fs::path recipe = run / "models" / (name + ".json");
  return {{"name", name},
          {"role", enum_name(measured_model.role)},
          {"picks", found.at("picks")},
          {"score", found.at("score")},
          {"decoder", found.at("decoder_params")},
          {"total", found.at("total_params")},
          {"predicted_ms", predicted > 0 ? Json(1e3 * predicted) : Json()},
          {"measured_ms", 1e3 * measured.at("median").get<double>()},
          {"low_ms", 1e3 * measured.at("low").get<double>()},
          {"high_ms", 1e3 * measured.at("high").get<double>()},
          {"predicted_step_ms", predicted > 0 ? wait("/predicted_step_seconds") : Json()},
          {"step_ms", wait("/step_seconds/median")},
          {"predicted_first_token_ms", predicted > 0 ? wait("/predicted_first_token_seconds") : Json()},
          {"first_token_ms", wait("/first_token_seconds/median")},
          {"planned_bytes", found.at("planned_bytes")},
          {"measured_bytes", found.at("measured_bytes")},
          {"arch", model.arch},
          {"spec", to_json(model)},
          {"frame", parts.frame({model.width, model.embedding.width, model.embedding.division,
                                 model.embedding.vocabulary})},
          {"blocks", blocks},
          {"train", fs::exists(recipe) ? text("heed train ", shell_word(recipe.string()), " --data TEXT -o ",
                                              shell_word(run.string() + "-" + name))
                                       : ""},
          {"trained", Json::array()},
          {"moments", moments_json(found.value("trained", Json::array()))}};
}

bool is_by_law(const std::string& proxy) {
  return std::ranges::any_of(search::proxies(),
                             [&](const search::Proxy& known) { return known.name == proxy && known.by_law; });
}

// What one more block would change in the recommended model, by the law that was searched by. Times are
// those that the search added up.
Json rates_of(const fs::path& run, const spec::Space& space, const Json& models, const BlockIndex& parts) {
  if (!fs::exists(run / search::kLawFile)) return Json::array();
  const Json stored = store::read_json_object(run / search::kLawFile);
  const search::Law law = search::read_law(stored.at("law"), (run / search::kLawFile).string());
  for (const Json& found : models) {
    if (found.at("picks").empty() || found.at("picks")[0] != search::kRecommended) continue;
    Json rates = rates_json(found.at("name"), spec::read_model_spec(found.at("spec"), "search.json"), space,
                            law, stored.at("tokens"));
    for (Json& block : rates["blocks"]) block["ms"] = parts.milliseconds(block);
    return {rates};
  }
  return Json::array();
}

RunView read(const fs::path& run) {
  RunView view;
  const Json config = spec::with_space_definition(store::read_json_object(run / "config.json"));
  if (!config.contains(spec::kSpaceDefinition))
    throw usage_error(run.string(),
                      ": this search was made by an earlier version of heed; search again in another folder");
  const spec::Space space =
      spec::read_space(config.at(spec::kSpaceDefinition), (run / "config.json").string());
  const Json limits = config.value("limits", Json::object());
  view.json = {{"space", config.at("space")},
               {"about", space.about},
               {"strategy", config.at("strategy")},
               {"proxy", config.at("proxy")},
               {"length", space.length},
               {"limits",
                {{"latency_ms", limit(limits, "latency", 1e3)},
                 {"memory", limit(limits, "memory")},
                 {"parameters", limit(limits, "parameters")}}},
               {"candidates", empty_candidates()},
               {"models", Json::array()},
               {"by_law", is_by_law(config.at("proxy"))},
               {"train_tokens", config.value("train_tokens", Json())},
               {"rates", Json::array()},
               {"hypervolume", hypervolume_of({})}};
  Json table = {{"blocks", Json::array()}, {"frames", Json::array()}};
  if (fs::exists(run / "blocks.json"))
    view.try_to([&] { table = store::read_json_object(run / "blocks.json"); });
  const spec::Space by_block = search::by_block(space);
  BlockIndex parts(by_block, table);
  view.try_to([&] {
    Json lists = empty_candidates();
    const std::vector<search::Evaluated> all = read_candidates(
        run, space, enum_from_name<search::Objective>(config.value("objective", "prompt")), parts, lists);
    view.json["hypervolume"] = hypervolume_of(all);
    view.json["candidates"] = std::move(lists);
  });
  const bool done = fs::exists(run / "pareto.csv");
  view.try_to([&] {
    for (const search::MeasuredModel& found : search::read_measured_models(run))
      view.json["models"].push_back(model_json(found, run, parts));
  });
  view.try_to([&] { view.json["rates"] = rates_of(run, space, view.json["models"], parts); });
  if (done && view.json["models"].empty())
    view.problems.push_back(
        "search.json is missing: made by an earlier version of heed? Measured models are not shown");
  view.json["blocks"] = parts.all_blocks();
  view.json["frames"] = parts.all_frames();
  const bool empty = view.json["candidates"]["score"].empty() && !store::is_in_use(run);
  view.json["state"] = empty ? "empty" : state_of(run, done);
  return view;
}

}  // namespace

View search_view() {
  return {"search", store::RunKind::kSearch, []() -> Reading { return read; }};
}

}  // namespace heed::report
