#include "heed/cli/describe.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <map>

#include "heed/base/units.h"
#include "heed/cli/describe_graph.h"
#include "heed/cli/recipe_flags.h"
#include "heed/cli/subject.h"
#include "heed/graph/plan.h"
#include "heed/model/heads.h"
#include "heed/spec/arch.h"
#include "heed/train/tasks.h"
#include "heed/train/training.h"

namespace heed::cli {
namespace {

Json to_json(const graph::Memory& m) {
  return {{"weights", m.weights}, {"state", m.state}, {"arena", m.arena}, {"peak", m.peak()}};
}

// Everything that is printed, counted and planned; nothing is run and no weight is allocated.
struct Facts {
  model::ParameterCount parameters;
  double blocks = 0, head = 0;  // FLOPs of a segment, with keys of the memory computed again
  double executed = 0;          // blocks, with queries of the memory as reference code makes them
  double cached = 0;            // blocks, keys and values kept
  double training = 0;          // FLOPs of an update
  graph::Memory inference, update;
  bool trains = true;  // false if heed has no task that trains the model's head: there is no update to plan
};

model::Model count(const spec::ModelSpec& spec, const model::GraphForm& form, graph::Memory* memory) {
  graph::Graph graph;
  const model::Model model = model::build(graph, spec, form);
  graph.mark_output(form.end() == model::GraphEnd::kLoss ? model.losses : model.scores);
  graph.tidy();
  if (memory) *memory = graph::plan(graph).memory;
  return model;
}

Facts facts_of(const spec::Recipe& recipe, int64_t batch, int64_t length, int64_t memory) {
  Facts facts;
  const spec::ModelSpec& spec = recipe.model;
  facts.parameters = model::count_parameters(spec);
  const model::HeadEntry& head = model::heads().find(spec.head.kind);
  facts.trains =
      std::ranges::any_of(train::tasks(), [&](const train::Task& task) { return task.head == head.name; });
  const auto end = head.has_loss ? model::GraphEnd::kLoss : model::GraphEnd::kScores;
  const model::Segment segment{batch, length, memory};
  const model::Model plain = count(spec, recomputing_form(segment, end, model::WeightForm::kPlain), nullptr);
  facts.blocks = plain.block_cost.flops;
  facts.head = plain.output_cost.flops;
  facts.executed = facts.blocks;
  for (const spec::Block& block : spec.blocks()) {
    if (spec.positions == Positions::kRelative && block.attention() == spec::Attention::kByPosition)
      facts.executed += 2.0 * static_cast<double>(batch * memory * spec.width) *
                        static_cast<double>(block["heads"] * spec.head_width(block));
  }
  facts.cached = count(spec, caching_form(spec, segment, end), &facts.inference).block_cost.flops;
  if (!facts.trains) return facts;
  const auto update = train::build_training_graph(spec, recipe.training);
  facts.training = update.flops();
  facts.update = update.memory();
  return facts;
}

// What the recipe says about itself, with the size that the model has: that may have been changed.
std::string about(const spec::Recipe& recipe, const Facts& facts) {
  const size_t end = recipe.about.find(" parameters");
  if (end == std::string::npos || !std::isdigit(static_cast<unsigned char>(recipe.about[0])))
    return recipe.about;
  return format_count(static_cast<double>(facts.parameters.total)) + recipe.about.substr(end);
}

class Describe : public Verb {
 public:
  void declare(Flags& flags) override {
    flags.positional("recipe", name_, "name of a recipe, a file, or the folder of a model", true);
    flags.alias("recipe", "m");
    flags.option("batch", batch_, "sequences");
    flags.option("length", length_, "tokens per segment; default: as in the recipe's evaluation");
    flags.option("memory", memory_, "memory length; default: as in the recipe's evaluation");
    recipe_flags_.declare(flags);
    flags.flag("graph", graph_, "print the graph instead: each node with its settings, values and types");
    flags.flag("json", json_, "print JSON");
  }

  void run() override {
    spec::Recipe recipe = recipe_flags_.with_vocabulary(recipe_flags_.over(load_subject(name_).recipe),
                                                        "describe", "--vocabulary");
    if (recipe_flags_.changes()) recipe.published.clear();  // they are of the recipe as it was
    const int64_t length = length_.value_or(recipe.evaluation.length);
    const int64_t memory = memory_.value_or(recipe.evaluation.memory);
    if (graph_) return describe_graph(recipe.model, batch_, length, memory, json_);
    const Facts facts = facts_of(recipe, batch_, length, memory);
    json_ ? print_json(recipe, facts, length, memory) : print(recipe, facts, length, memory);
  }

 private:
  void print_json(const spec::Recipe& recipe, const Facts& facts, int64_t length, int64_t memory) const {
    Json parameters = {{"total", facts.parameters.total}, {"decoder", facts.parameters.decoder}};
    for (const auto& [group, count] : facts.parameters.groups) parameters[enum_name(group)] = count;
    Json planned = to_json(facts.inference);
    if (facts.trains) planned["training"] = to_json(facts.update);
    Json json = {{"name", recipe.name},
                 {"about", about(recipe, facts)},
                 {"published", recipe.published},
                 {"arch", recipe.model.arch},
                 {"letters", recipe.model.letters()},
                 {"spec", heed::to_json(recipe.model)},
                 {"batch", batch_},
                 {"length", length},
                 {"memory_length", memory},
                 {"params", parameters},
                 {"flops",
                  {{"blocks", facts.blocks},
                   {"head", facts.head},
                   {"blocks_and_head", facts.blocks + facts.head},
                   {"blocks_as_executed", facts.executed},
                   {"blocks_cached", facts.cached}}},
                 {"memory", planned}};
    if (facts.trains) json["flops"]["training_step"] = facts.training;
    std::printf("%s\n", json.dump(2).c_str());
  }

  void print(const spec::Recipe& recipe, const Facts& facts, int64_t length, int64_t memory) const {
    const spec::ModelSpec& spec = recipe.model;
    std::printf("%s%s%s\n", recipe.name.c_str(), recipe.about.empty() ? "" : ": ",
                about(recipe, facts).c_str());
    for (const std::string& sentence : recipe.published) std::printf("  published: %s\n", sentence.c_str());
    draw(spec);
    const auto count = [](double value) { return format_count(value); };
    std::printf("\n  parameters       %s (%lld), %s in the %s\n",
                count(static_cast<double>(facts.parameters.total)).c_str(),
                static_cast<long long>(facts.parameters.total),
                count(static_cast<double>(facts.parameters.decoder)).c_str(), spec.stack.c_str());
    for (const auto& [group, here] : facts.parameters.groups) {
      if (here > 0)
        std::printf("    %-14s %s\n", enum_name(group).c_str(), count(static_cast<double>(here)).c_str());
    }
    std::printf(
        "  a segment of %lld x %lld tokens, memory %lld (2 FLOP per multiply-add; norms, softmax and lookups "
        "not "
        "counted):\n",
        static_cast<long long>(batch_), static_cast<long long>(length), static_cast<long long>(memory));
    std::printf(
        "    blocks         %s: queries of the segment; keys, values and distances of segment and "
        "memory\n",
        format_flops(facts.blocks).c_str());
    if (facts.executed != facts.blocks)
      std::printf("                   %s with queries of the memory too, as reference code computes\n",
                  format_flops(facts.executed).c_str());
    if (facts.cached != facts.blocks)
      std::printf("                   %s with keys, values and distances cached, as heed runs\n",
                  format_flops(facts.cached).c_str());
    std::printf(
        "    and output     %s%s\n", format_flops(facts.blocks + facts.head).c_str(),
        spec.cluster_ends().size() > 1 ? " with the head of the adaptive softmax; tails by the text" : "");
    std::printf("    memory         %s (weights %s, state %s, arena %s)\n",
                format_bytes(facts.inference.peak()).c_str(), format_bytes(facts.inference.weights).c_str(),
                format_bytes(facts.inference.state).c_str(), format_bytes(facts.inference.arena).c_str());
    if (!facts.trains) return;
    const spec::TrainingSpec& t = recipe.training;
    std::printf("  an update of %lld x %lld tokens, memory %lld, %s:\n", static_cast<long long>(t.batch),
                static_cast<long long>(t.length), static_cast<long long>(t.memory), t.optimizer.c_str());
    std::printf("    work           %s\n", format_flops(facts.training).c_str());
    std::printf("    memory         %s (weights %s, optimizer and memory %s, arena %s)\n",
                format_bytes(facts.update.peak()).c_str(), format_bytes(facts.update.weights).c_str(),
                format_bytes(facts.update.state).c_str(), format_bytes(facts.update.arena).c_str());
  }

  // Blocks from the text to the word, repeated ones once.
  static void draw(const spec::ModelSpec& spec) {
    std::printf("\n  norm %s, positions %s, activation %s\n", enum_name(spec.norm).c_str(),
                enum_name(spec.positions).c_str(), enum_name(spec.feed_forward.activation).c_str());
    std::printf("\n  text\n   │  embedding, %lld words of width %lld%s\n",
                static_cast<long long>(spec.embedding.vocabulary), static_cast<long long>(spec.table_width()),
                spec.adaptive() ? ", in clusters" : "");
    // Blocks repeat where their lines do: those of one letter may differ in size.
    std::vector<std::string> lines;
    std::map<std::string, size_t> index;
    std::u32string kinds;
    for (const spec::Block& block : spec.blocks()) {
      const std::string line = text("[", block.letter, "]  ", describe(block));
      const auto [known, fresh] = index.try_emplace(line, lines.size());
      kinds += static_cast<char32_t>(known->second);
      if (fresh) lines.push_back(line);
    }
    for (const spec::Repeat& repeat : spec::written_repeats(spec.arch, kinds)) {
      for (size_t i = 0; i < repeat.size; ++i) {
        const bool last = i + 1 == repeat.size;
        const char* edge = repeat.size == 1 ? "─" : i == 0 ? "┌" : last ? "└" : "│";
        std::printf(" %s %s%s\n", edge, lines[kinds[repeat.begin + i]].c_str(),
                    last && repeat.count > 1 ? text("  x ", repeat.count).c_str() : "");
      }
    }
    const model::HeadEntry& head = model::heads().find(spec.head.kind);
    if (head.has_loss) std::printf("   │  output%s\n", spec.head.tie_weights ? ", the same table" : "");
    std::printf("  %s\n", head.result);
  }

  std::string name_;
  RecipeFlags recipe_flags_;
  int64_t batch_ = 1;
  std::optional<int64_t> length_, memory_;
  bool graph_ = false, json_ = false;
};

}  // namespace

VerbEntry describe_verb() {
  return entry<Describe>("describe",
                         "Draws, counts and plans a model: parameters, FLOPs, exact memory. Runs nothing.",
                         {"heed describe par-base-wt103", "heed describe par-base-wt103 --json",
                          "heed describe run", "heed describe txl-3m-bytes --graph"});
}

}  // namespace heed::cli
