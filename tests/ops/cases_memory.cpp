#include "tests/ops/cases.h"

namespace heed::test {
namespace {

// slot < 0: not given.
OracleInput slot_input(int slot) { return slot < 0 ? absent() : integers({1}, {slot}); }

void add(OracleCases& cases, OracleCase given) {
  given.seeded = {};
  cases.add("memory", std::move(given));
}

void recall_case(OracleCases& cases, Rng& rng, Shape state, int slot, bool flat) {
  add(cases, {.name = text("recall ", state.str(), " slot ", slot, flat ? " flat" : ""),
              .op = "recall",
              .settings = {{"flat", flat}},
              .inputs = {in_role(normal(state, rng), graph::Role::kState), slot_input(slot)}});
}

// On a state, which is written where it lies, and on an input, which is copied first.
void remember_case(OracleCases& cases, Rng& rng, Shape state, Shape x, int slot) {
  for (const graph::Role role : {graph::Role::kState, graph::Role::kInput}) {
    add(cases, {.name = text("remember ", state.str(), " then ", x.str(), " slot ", slot,
                             role == graph::Role::kState ? "" : " of an input"),
                .op = "remember",
                .inputs = {in_role(normal(state, rng), role), normal(x, rng), slot_input(slot)}});
  }
}

void append_case(OracleCases& cases, Rng& rng, Shape cache, Shape x, int first_column, int position) {
  for (const graph::Role role : {graph::Role::kState, graph::Role::kInput}) {
    add(cases, {.name = text("append ", x.str(), " from column ", first_column, " at ", position, " of ",
                             cache.str(), role == graph::Role::kState ? "" : ", an input"),
                .op = "append",
                .settings = {{"first_column", first_column}},
                .inputs = {in_role(normal(cache, rng), role), normal(x, rng), integers({1}, {position})}});
  }
}

}  // namespace

void add_memory_cases(OracleCases& cases) {
  Rng rng(5);
  for (const int slot : {-1, 0, 2}) {
    recall_case(cases, rng, {3, 2, 5, 7}, slot, false);
    recall_case(cases, rng, {3, 4, 1, 9}, slot, true);
    recall_case(cases, rng, {3, 4, 1, 9}, slot, false);
  }
  recall_case(cases, rng, {1, 1, 1, 1}, -1, false);
  recall_case(cases, rng, {2, 9, 64, 65}, 1, false);
  for (const int64_t T : {0, 1, 4, 5, 6, 20}) {  // fewer rows than the memory has, as many, more
    remember_case(cases, rng, {3, 2, 5, 7}, {2, T, 7}, 1);
    remember_case(cases, rng, {2, 5, 7}, {2, T, 7}, -1);
  }
  remember_case(cases, rng, {3, 2, 5, 7}, {2, 3, 7}, -1);
  remember_case(cases, rng, {3, 2, 5, 7}, {2, 3, 7}, 2);
  remember_case(cases, rng, {3, 4, 1, 9}, {4, 9}, 2);  // the state of a recurrent cell
  remember_case(cases, rng, {4, 9}, {4, 9}, -1);
  remember_case(cases, rng, {4, 9}, {4, 3, 9}, -1);
  remember_case(cases, rng, {4, 6, 9}, {4, 9}, -1);
  remember_case(cases, rng, {2, 9, 64, 65}, {9, 33, 65}, 1);
  append_case(cases, rng, {1, 1, 1}, {1, 1, 1}, 0, 0);
  for (const int position : {0, 3, 8}) append_case(cases, rng, {2, 11, 10}, {2, 3, 15}, 5, position);
  append_case(cases, rng, {2, 11, 15}, {2, 11, 15}, 0, 0);
  append_case(cases, rng, {9, 64, 65}, {9, 33, 100}, 17, 30);
  for (const int chunk : {0, 1, 3}) {
    for (const Shape& shape : {Shape{1}, Shape{17, 33}, Shape{301, 129}}) {
      add(cases, {.name = text("accumulate ", shape.str(), " chunk ", chunk),
                  .op = "accumulate",
                  .settings = {{"factor", 0.25}},
                  .inputs = {in_role(normal(shape, rng), graph::Role::kState), normal(shape, rng),
                             integers({1}, {chunk})}});
    }
  }
  for (const int row : {0, 3, 6}) {
    add(cases, {.name = text("take_row ", row),
                .op = "take_row",
                .inputs = {normal({3, 7, 17}, rng), integers({1}, {row})}});
  }
}

}  // namespace heed::test
