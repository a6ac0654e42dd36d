// How far numbers computed in float may be from the same ones computed exactly, or in another order.
//
// One rule for all tests. An operation rounds its result by at most u = 2^-24 of its size. The n roundings of
// a sum of n terms have random signs: they add up like sqrt(n), not like n (Higham and Mary 2019, "A new
// approach to probabilistic rounding error analysis"), and beyond twice that is next to nothing. 8 more cover
// the exponentials, roots and divisions around a sum. A number that passes through `depth` sums, one after
// the other, collects the error of each, every one as random as the last.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace heed::test {

// Relative to the largest number of the tensor: the terms of a sum have that size, the sum may be nearly 0.
inline double rounding_bound(int64_t length, int64_t depth = 1) {
  constexpr double kUnit = 0x1p-24;
  const double one = 8 + 2 * std::sqrt(static_cast<double>(std::max<int64_t>(length, 1)));
  return kUnit * one * std::sqrt(static_cast<double>(depth));
}

struct Deviation {
  size_t at = 0;       // where actual and expected differ most
  double error = 0;    // by how much; infinite where one is no number
  double largest = 0;  // number that was expected
};

// `actual` and `expected`: ranges of float or double of one length.
template <class Actual, class Expected>
Deviation deviation(const Actual& actual, const Expected& expected) {
  Deviation worst;
  for (size_t i = 0; i < expected.size(); ++i) {
    const double right = static_cast<double>(expected[i]);
    const double error = std::abs(static_cast<double>(actual[i]) - right);
    worst.largest = std::max(worst.largest, std::abs(right));
    if (!(error <= worst.error))
      worst.at = i, worst.error = std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
  }
  return worst;
}

// Numbers that should be equal but for rounding. Where all of them are tiny, the terms they were summed from
// still have the size `floor`. Returns the worst error as a share of what is allowed.
template <class Actual, class Expected>
double expect_close(const Actual& actual, const Expected& expected, double bound, const std::string& what,
                    double floor = 1e-3) {
  EXPECT_EQ(actual.size(), expected.size()) << what;
  if (actual.size() != expected.size()) return std::numeric_limits<double>::infinity();
  const Deviation worst = deviation(actual, expected);
  const double allowed = bound * std::max(worst.largest, floor);
  EXPECT_LE(worst.error, allowed) << what << " at " << worst.at << ": expected " << expected[worst.at]
                                  << ", is " << actual[worst.at];
  return worst.error / allowed;
}

}  // namespace heed::test
