#include "heed/search/worth/law.h"

#include "heed/spec/letters.h"

namespace heed::search {
namespace {

constexpr double kUnits = 1000;
// A model that does not read its context has the loss of one that reads this little.
constexpr double kLeastContext = 0.01;

}  // namespace

Sums Law::worth(int64_t width_of_model, const SizedBlock& block, double tokens_seen) const {
  const auto letter = letters.find(block.letter);
  if (letter == letters.end())
    throw usage_error("worth: the law says nothing about letter '", std::string(1, block.letter),
                      "'; `heed worth` with a space that has it fits one that does");
  const double size =
                   static_cast<double>(block.parameters) / static_cast<double>(width_of_model) / kUsualSize,
               seen = tokens_seen / kUsualTokens;
  const auto of = [&](double weight, const Growth& growth) {
    return weight * std::pow(size, growth.size) * std::pow(seen, growth.tokens);
  };
  return {of(letter->second.context, context_growth), of(letter->second.transform, transform_growth)};
}

double Law::bits_per_byte(int64_t width_of_model, int64_t vocabulary_of_model, const Sums& sums,
                          double tokens_seen) const {
  const auto added = vocabulary.find(vocabulary_of_model);
  return floor + (added == vocabulary.end() ? 0 : added->second) +
         context(std::max(kLeastContext, sums.context)) + transform(1 + sums.transform) +
         width(static_cast<double>(width_of_model) / kUsualWidth) + tokens(tokens_seen / kUsualTokens);
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
          {"context", heed::to_json(law.context)},
          {"transform", heed::to_json(law.transform)},
          {"width", heed::to_json(law.width)},
          {"tokens", heed::to_json(law.tokens)},
          {"context_growth", heed::to_json(law.context_growth)},
          {"transform_growth", heed::to_json(law.transform_growth)},
          {"letters", letters},
          {"vocabulary", vocabulary}};
}

Law read_law(const Json& json, const std::string& what) {
  Law law;
  try {
    law.floor = json.at("floor").get<double>();
    law.context = from_json<Decay>(json.at("context"), what);
    law.transform = from_json<Decay>(json.at("transform"), what);
    law.width = from_json<Decay>(json.at("width"), what);
    law.tokens = from_json<Decay>(json.at("tokens"), what);
    law.context_growth = from_json<Growth>(json.at("context_growth"), what);
    law.transform_growth = from_json<Growth>(json.at("transform_growth"), what);
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
