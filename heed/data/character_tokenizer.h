// One token per byte that occurs in the text, as character models on enwik8 and text8 count them. Ids by
// falling count, ties by first appearance.
//
// `newline` says how line ends are encoded: "keep" makes them symbols like any other, "drop" leaves them out
// (Transformer-XL, Dai et al., 2019: 204 symbols on enwik8, and bits per character count the others only),
// "eos" makes them the end symbol, which the vocabulary then has even if the text has no line end.
#pragma once

#include "heed/data/tokenizer.h"

namespace heed::data {

enum class Newline { kKeep, kDrop, kEos };

TokenizerEntry character_tokenizer();

}  // namespace heed::data

template <>
struct heed::EnumNames<heed::data::Newline> {
  static constexpr std::pair<heed::data::Newline, const char*> names[] = {
      {heed::data::Newline::kKeep, "keep"},
      {heed::data::Newline::kDrop, "drop"},
      {heed::data::Newline::kEos, "eos"},
  };
};
