// A file of text as the readers of files cut it (data/corpus.h). The first line names the reader.
#include "heed/data/corpus.h"

#include "tests/fuzz/support.h"

using namespace heed;

HEED_FUZZ_TARGET(input) {
  const std::string reader(fuzz::take_line(input));
  fuzz::answers([&] {
    const data::Corpus corpus = data::open_corpus(fuzz::file_with(input, "text"), reader);
    std::string joined, told;
    for (const data::Split split : data::kSplits) {
      if (!corpus.has(split)) continue;
      corpus.part(split).hash();
      for (const data::TextSlice& slice : corpus.part(split).slices) joined += slice.text;
      corpus.text({split})([&](std::string_view slice) { told += slice; });
    }
    fuzz::law(told == joined, "the text to learn from is that of the parts");
    fuzz::law(reader == "text8" || joined == input, "the parts are the file");
  });
}
