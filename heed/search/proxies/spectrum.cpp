#include "heed/search/proxies/spectrum.h"

#include <algorithm>
#include <cmath>

#include "heed/base/threads.h"

namespace heed::search {

std::vector<double> eigenvalues(std::vector<double> a, int64_t n) {
  const auto at = [&](int64_t i, int64_t j) -> double& { return a[static_cast<size_t>(i * n + j)]; };
  for (int sweep = 0; sweep < 60; ++sweep) {
    double off = 0, all = 0;
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        all += at(i, j) * at(i, j);
        if (i != j) off += at(i, j) * at(i, j);
      }
    }
    if (off <= 1e-30 * all) break;
    for (int64_t p = 0; p < n; ++p) {
      for (int64_t q = p + 1; q < n; ++q) {
        if (at(p, q) == 0) continue;
        // The angle that makes (p, q) vanish.
        const double theta = (at(q, q) - at(p, p)) / (2 * at(p, q));
        const double t = std::copysign(1 / (std::abs(theta) + std::hypot(theta, 1)), theta);
        const double c = 1 / std::hypot(t, 1), s = t * c;
        for (int64_t k = 0; k < n; ++k) {
          const double x = at(k, p), y = at(k, q);
          at(k, p) = c * x - s * y;
          at(k, q) = s * x + c * y;
        }
        for (int64_t k = 0; k < n; ++k) {
          const double x = at(p, k), y = at(q, k);
          at(p, k) = c * x - s * y;
          at(q, k) = s * x + c * y;
        }
      }
    }
  }
  std::vector<double> values;
  for (int64_t i = 0; i < n; ++i) values.push_back(at(i, i));
  std::sort(values.begin(), values.end());
  return values;
}

double log_determinant(std::vector<double> a, int64_t n) {
  const auto row = [&](int64_t i) { return a.data() + i * n; };
  double sum = 0;
  for (int64_t k = 0; k < n; ++k) {
    int64_t pivot = k;
    for (int64_t i = k + 1; i < n; ++i) {
      if (std::abs(row(i)[k]) > std::abs(row(pivot)[k])) pivot = i;
    }
    if (row(pivot)[k] == 0) return -INFINITY;
    if (pivot != k) std::swap_ranges(row(pivot), row(pivot) + n, row(k));
    sum += std::log(std::abs(row(k)[k]));
    const int64_t left = n - k - 1;
    parallel_for((left + 63) / 64, threads_for(0.5 * static_cast<double>(left * left)), [&](int64_t block) {
      for (int64_t i = k + 1 + 64 * block; i < std::min(n, k + 65 + 64 * block); ++i) {
        const double factor = row(i)[k] / row(k)[k];
        for (int64_t j = k + 1; j < n; ++j) row(i)[j] -= factor * row(k)[j];
      }
    });
  }
  return sum;
}

}  // namespace heed::search
