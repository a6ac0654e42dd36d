// The linear algebra that proxies need, in double: row-major matrices of a few hundred to a few thousand
// rows, which are overwritten. LAPACK would be a dependency of 10 MB for two functions off the hot path.
#pragma once

#include <cstdint>
#include <vector>

namespace heed::search {

// Of a symmetric matrix [n, n], ascending (Jacobi's rotations).
std::vector<double> eigenvalues(std::vector<double> matrix, int64_t n);
// log |det| of a matrix [n, n] (Gauss, with the largest pivot); minus infinity if it is singular.
double log_determinant(std::vector<double> matrix, int64_t n);

}  // namespace heed::search
