// Tables of models (search/model_table.h).
#include "heed/search/model_table.h"

#include "tests/fuzz/support.h"

using namespace heed;

HEED_FUZZ_TARGET(input) {
  fuzz::answers([&] {
    for (const search::TableRow& row : search::read_model_table(fuzz::file_with(input, "table.csv"), "")) {
      validate(row.recipe.model);
      validate(row.recipe.training);
    }
  });
}
