#include "heed/search/worth/law.h"

#include "heed/spec/letters.h"

namespace heed::search {
namespace {

constexpr double kUnits = 10000;
// What a model without blocks reads: its last token.
constexpr double kLeastContext = 0.05;

}  // namespace

Sums Law::worth(int64_t width_of_model, const SizedBlock& block, double tokens_seen) const {
  const auto letter = letters.find(block.letter);
  if (letter == letters.end())
    throw usage_error("worth: the law says nothing about letter '", std::string(1, block.letter),
                      "'; `heed worth` with a space that has it fits one that does");
  const LetterWorth& worth = letter->second;
  const auto width_now = static_cast<double>(width_of_model);
  const double common = std::pow(static_cast<double>(block.parameters) / width_now / kUsualSize, worth.size) *
                        std::pow(width_now / kUsualWidth, worth.width);
  const double seen = tokens_seen / kUsualTokens;
  return {worth.context * common * std::pow(seen, growth.context),
          worth.transform * common * std::pow(seen, growth.transform)};
}

double Law::bits_per_byte(int64_t width_of_model, int64_t vocabulary_of_model, const Sums& sums,
                          double tokens_seen) const {
  const auto added = vocabulary.find(vocabulary_of_model);
  const double seen = tokens_seen / kUsualTokens;
  return floor + (added == vocabulary.end() ? 0 : added->second) +
         blocks.bits * std::pow(kLeastContext + sums.context, -blocks.context) *
             std::pow(1 + sums.transform, -blocks.transform) +
         width.bits * std::pow(static_cast<double>(width_of_model) / kUsualWidth, -width.power) *
             std::pow(seen, -width.tokens) +
         tokens.bits * std::pow(seen, -tokens.power);
}

Worth units_of(const Sums& sums) {
  return {std::llround(kUnits * sums.context), std::llround(kUnits * sums.transform)};
}

Sums sums_of(const Worth& units) {
  return {static_cast<double>(units[0]) / kUnits, static_cast<double>(units[1]) / kUnits};
}

Json to_json(const Law& law) {
  Json letters = Json::object(), vocabulary = Json::object();
  for (const auto& [letter, worth] : law.letters) letters[std::string(1, letter)] = heed::to_json(worth);
  for (const auto& [words, bits] : law.vocabulary) vocabulary[text(words)] = bits;
  return {{"floor", law.floor},
          {"blocks", heed::to_json(law.blocks)},
          {"width", heed::to_json(law.width)},
          {"tokens", heed::to_json(law.tokens)},
          {"growth", heed::to_json(law.growth)},
          {"letters", letters},
          {"vocabulary", vocabulary}};
}

Law read_law(const Json& json, const std::string& what) {
  Law law;
  try {
    law.floor = json.at("floor").get<double>();
    law.blocks = from_json<BlocksTerm>(json.at("blocks"), what);
    law.width = from_json<WidthTerm>(json.at("width"), what);
    law.tokens = from_json<TokensTerm>(json.at("tokens"), what);
    law.growth = from_json<Growth>(json.at("growth"), what);
    for (const auto& [letter, worth] : json.at("letters").items()) {
      if (letter.size() != 1 || !spec::is_letter(letter[0]))
        throw damaged_error(what, ": '", letter, "' is not a letter");
      law.letters[letter[0]] = from_json<LetterWorth>(worth, what);
    }
    for (const auto& [words, bits] : json.at("vocabulary").items())
      law.vocabulary[std::stoll(words)] = bits.get<double>();
  } catch (const Json::exception& error) {
    throw damaged_error(what, ": it is not a law of worth: ", error.what());
  } catch (const std::logic_error&) {
    throw damaged_error(what, ": a vocabulary of the law is not a number");
  }
  return law;
}

}  // namespace heed::search
