// Every op against PyTorch in double, values and gradients (tests/oracle, tests/support/oracle.h).
#include "heed/ops/ops.h"
#include "tests/ops/cases.h"
#include "tests/support/python.h"

namespace heed::test {
namespace {

OracleCases& all_cases() {
  static OracleCases cases;
  static const bool collected = [] {
    add_elementwise_cases(cases);
    add_attention_cases(cases);
    add_memory_cases(cases);
    add_packed_cases(cases);
    add_sru_cases(cases);
    add_vocabulary_cases(cases);
    add_optimizer_cases(cases);
    return true;
  }();
  (void)collected;
  return cases;
}

OracleCases& answered_cases() {
  static const bool answered = [] {
    all_cases().run();
    return true;
  }();
  (void)answered;
  return all_cases();
}

class Oracle : public ::testing::Test {
 protected:
  void check(const std::string& family) {
    OracleCases& cases = answered_cases();
    HEED_NEEDS_ORACLE(cases.missing());
    cases.check(family);
  }
};

TEST_F(Oracle, Elementwise) { check("elementwise"); }
TEST_F(Oracle, Attention) { check("attention"); }
TEST_F(Oracle, Memory) { check("memory"); }
TEST_F(Oracle, Packed) { check("packed"); }
TEST_F(Oracle, Sru) { check("sru"); }
TEST_F(Oracle, Vocabulary) { check("vocabulary"); }
TEST_F(Oracle, Optimizer) { check("optimizer"); }

// Backward ops count as reached when they appear in the differentiated graph of a case.
TEST(OracleCoverage, EveryRegisteredOpIsReached) {
  const std::set<std::string> reached = all_cases().reached();
  for (const ops::OpEntry& entry : ops::all()) {
    EXPECT_TRUE(reached.contains(entry.name))
        << "no oracle case reaches op '" << entry.name << "'; add one in tests/ops/cases_*.cpp";
  }
}

}  // namespace
}  // namespace heed::test
