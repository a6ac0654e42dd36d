// A recipe: a model with its data, training and evaluation, and the result it should reach. One file each in
// recipes/; users write specs in the same format, where only "model" is required.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "heed/spec/model_spec.h"
#include "heed/spec/training_spec.h"

namespace heed::spec {

struct DataSpec {
  std::string reader = "auto";
  bool unwrap = false;
  std::string tokenizer = "bytes";
  int64_t vocabulary = 0;
  std::string newline = "keep";
  bool cased = false;
  template <class Visitor>
  void visit(Visitor&& field) {
    field("reader", reader, "how files become train, valid and test text");
    field("unwrap", unwrap, "joins the lines of a paragraph, for hard-wrapped books");
    field("tokenizer", tokenizer, "bytes, characters, words, lm1b, bpe or wordpiece");
    field(
        "vocabulary", vocabulary,
        "size to learn, for bpe and wordpiece, 0: 4096; most words to keep, for words and lm1b, 0: no limit");
    field("newline", newline, "what a line end becomes with characters: keep, drop or eos");
    field("cased", cased, "keeps capital letters and accents, for wordpiece; the other kinds always do");
  }
};

struct Recipe {
  std::string name;  // of the file
  std::string about;
  std::vector<std::string> published;  // what the authors report, one sentence each with its source
  ModelSpec model;
  DataSpec data;
  TrainingSpec training;
  EvaluationSpec evaluation;
};

Recipe read_recipe(const Json& json, const std::string& what);
Json to_json(const Recipe& recipe);  // read_recipe reads it back, except for the name
// With settings changed, each "model.dropout=0.2". A value is written as in JSON, text also without quotes,
// and a number is a list of one where a list is expected. Throws for a setting that does not exist.
Recipe with_settings(const Recipe& recipe, const std::vector<std::string>& assignments);
// From a file, or by name from the folder of recipes ("gpt2-124m"), or by key from the folder of a search
// ("found:128/0/1/256 r/64 sf4:512"). Checked.
Recipe load_recipe(const std::string& name_or_path);
// All in the folder of recipes, by name. HEED_RECIPES overrides the folder the program was built with.
std::vector<std::string> recipe_names();

}  // namespace heed::spec
