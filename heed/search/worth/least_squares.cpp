#include "heed/search/worth/least_squares.h"

#include <cmath>
#include <optional>

namespace heed::search {
namespace {

constexpr int kMostIterations = 300;
constexpr double kLeastGain = 1e-10;  // of the sum of squares, relative
constexpr double kMostDamping = 1e12;

double product(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

double sum_of_squares(const std::vector<double>& values) {
  const double sum = product(values, values);
  return std::isfinite(sum) ? sum : INFINITY;
}

// Solves a x = b for a symmetric positive definite `a`, by rows, by Cholesky's method; nothing if it is not.
std::optional<std::vector<double>> solve(std::vector<std::vector<double>> a, std::vector<double> b) {
  const size_t n = b.size();
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j <= i; ++j) {
      double sum = a[i][j];
      for (size_t k = 0; k < j; ++k) sum -= a[i][k] * a[j][k];
      if (i == j && !(sum > 0)) return std::nullopt;
      a[i][j] = i == j ? std::sqrt(sum) : sum / a[j][j];
    }
    for (size_t k = 0; k < i; ++k) b[i] -= a[i][k] * b[k];
    b[i] /= a[i][i];
  }
  for (size_t i = n; i-- > 0;) {
    for (size_t k = i + 1; k < n; ++k) b[i] -= a[k][i] * b[k];
    b[i] /= a[i][i];
  }
  return b;
}

}  // namespace

double robust(double residual, double bend) {
  const double size = std::abs(residual);
  return size <= bend ? residual : std::copysign(std::sqrt(bend * (2 * size - bend)), residual);
}

std::vector<double> least_squares(const Residuals& residuals, std::vector<double> x) {
  const size_t n = x.size();
  std::vector<double> here = residuals(x);
  double cost = sum_of_squares(here), damping = 1e-2;
  for (int iteration = 0; iteration < kMostIterations && damping < kMostDamping; ++iteration) {
    std::vector<std::vector<double>> slopes;  // by parameter
    for (size_t i = 0; i < n; ++i) {
      std::vector<double> moved = x;
      const double step = 1e-6 * std::max(1.0, std::abs(x[i]));
      moved[i] += step;
      slopes.push_back(residuals(moved));
      for (size_t k = 0; k < here.size(); ++k) slopes[i][k] = (slopes[i][k] - here[k]) / step;
    }
    std::vector<std::vector<double>> normal;
    std::vector<double> downhill;
    for (size_t i = 0; i < n; ++i) {
      downhill.push_back(-product(slopes[i], here));
      normal.emplace_back();
      for (size_t j = 0; j < n; ++j) normal[i].push_back(product(slopes[i], slopes[j]));
    }
    const double before = cost;
    for (; damping < kMostDamping; damping *= 4) {
      std::vector<std::vector<double>> damped = normal;
      for (size_t i = 0; i < n; ++i) damped[i][i] += damping * (normal[i][i] + 1e-9);
      const auto step = solve(std::move(damped), downhill);
      if (!step) continue;
      std::vector<double> moved = x;
      for (size_t i = 0; i < n; ++i) moved[i] += (*step)[i];
      const std::vector<double> there = residuals(moved);
      const double cost_there = sum_of_squares(there);
      if (cost_there >= cost) continue;
      x = moved, here = there, cost = cost_there;
      damping = std::max(1e-9, damping / 10);
      break;
    }
    if (before - cost <= kLeastGain * before) break;
  }
  return x;
}

}  // namespace heed::search
