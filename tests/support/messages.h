// What an Error says.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>

#include "heed/base/error.h"

namespace heed::test {

inline constexpr std::optional<ErrorKind> kAnyKind = std::nullopt;

// Of an error of that kind; empty if nothing is thrown.
inline std::string message_of(const std::function<void()>& call,
                              std::optional<ErrorKind> kind = ErrorKind::kUsage) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind.value_or(error.kind())) << error.what();
    return error.what();
  }
  return "";
}

}  // namespace heed::test

// `...`: the kind of error, if it is not usage.
#define EXPECT_SAYS(call, part, ...)                                                                \
  do {                                                                                              \
    const std::string message = ::heed::test::message_of([&] { call; } __VA_OPT__(, ) __VA_ARGS__); \
    EXPECT_NE(message.find(part), std::string::npos) << "'" << message << "' instead of " << part;  \
  } while (false)
