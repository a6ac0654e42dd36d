// Nonlinear least squares: Levenberg and Marquardt's method with derivatives by differences. For a few
// parameters and a few hundred residuals; written here because Debian's libraries for it (Ceres, GSL) would
// be heed's largest dependency, or change its licence, for a page of code.
#pragma once

#include <functional>
#include <vector>

namespace heed::search {

using Residuals = std::function<std::vector<double>(const std::vector<double>& parameters)>;

// The parameters near `start` with the least sum of squared residuals.
std::vector<double> least_squares(const Residuals& residuals, std::vector<double> start);

// A residual whose square grows only linearly beyond `bend`, so that single points do not decide (Huber
// 1964).
double robust(double residual, double bend);

}  // namespace heed::search
