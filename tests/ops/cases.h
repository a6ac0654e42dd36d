// The cases of tests/ops/oracle_test.cpp: one function per family, in cases_<family>.cpp. Cases of a new op
// go where its kin are.
#pragma once

#include "tests/support/oracle.h"

namespace heed::test {

// Rows and widths around the vector widths (8 and 16), one, odd.
inline constexpr int64_t kWidths[] = {1, 7, 8, 9, 15, 16, 17, 33};

void add_elementwise_cases(OracleCases& cases);
void add_attention_cases(OracleCases& cases);
void add_memory_cases(OracleCases& cases);
void add_packed_cases(OracleCases& cases);
void add_sru_cases(OracleCases& cases);
void add_vocabulary_cases(OracleCases& cases);
void add_optimizer_cases(OracleCases& cases);

}  // namespace heed::test
