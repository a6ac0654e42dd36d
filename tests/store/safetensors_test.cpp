#include "heed/store/safetensors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <set>
#include <tuple>

#include "heed/base/fields.h"
#include "heed/base/files.h"
#include "heed/base/philox.h"
#include "heed/tensor/half.h"
#include "tests/support/messages.h"
#include "tests/support/python.h"

namespace heed::store {
namespace {

namespace fs = std::filesystem;

std::string file_with(const std::string& header, const std::string& data) {
  const uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), 8) + header + data;
}

void put(const fs::path& path, const std::string& content) {
  fs::remove(path);  // some file systems wait for the disk when a file is replaced by its new content
  std::ofstream(path, std::ios::binary).write(content.data(), static_cast<std::streamsize>(content.size()));
}

std::string content_of(const fs::path& path) { return std::string(MappedFile(path).text()); }

// What the reader says about the content; "" if it accepts it. Every complaint must begin with the file.
std::string complaint(const fs::path& path, const std::string& content) {
  put(path, content);
  try {
    const Safetensors file(path);
    for (const auto& [name, tensor] : file.all()) {
      std::vector<float> numbers(static_cast<size_t>(tensor.elements));
      if (tensor.type->to_f32) file.read_f32(name, numbers);
    }
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find(path.string() + ": "), 0u) << error.what();
    EXPECT_LT(std::string(error.what()).size(), 600u);
    return std::string(error.what()).substr(path.string().size() + 2);
  }
  return "";
}

TEST(Safetensors, RoundTrip) {
  const TemporaryFolder folder;
  std::vector<float> weights = {1, -2.5f, 1e-40f, -0.0f, 3, INFINITY};
  std::vector<float> one = {42};
  std::vector<int32_t> counts = {-5, INT32_MAX, INT32_MIN};
  const Tensors tensors = {{"b.weight", {weights.data(), {{2, 3}}}},
                           {"a.counts", {counts.data(), {{3}, DType::kI32}}},
                           {"scalar", {one.data(), {Shape(), DType::kF32}}},
                           {"nothing", {nullptr, {{4, 0, 2}}}}};
  write_safetensors(folder / "t", tensors, {{"step", "7"}, {"note", "\"\n"}});
  const Safetensors file(folder / "t");
  EXPECT_EQ(file.names(), (std::vector<std::string>{"a.counts", "b.weight", "nothing", "scalar"}));
  EXPECT_EQ(file.metadata(), (Metadata{{"step", "7"}, {"note", "\"\n"}}));
  EXPECT_EQ(file.info("b.weight").str(), "F32[2, 3]");
  EXPECT_EQ(file.info("nothing").shape, (std::vector<int64_t>{4, 0, 2}));
  EXPECT_EQ(file.info("scalar").str(), "F32[]");
  std::vector<float> got(6);
  file.read_f32("b.weight", got);
  EXPECT_EQ(std::memcmp(got.data(), weights.data(), 24), 0);
  std::vector<int32_t> ints(3);
  file.read("a.counts", {ints.data(), {{3}, DType::kI32}});
  EXPECT_EQ(ints, counts);
  file.read_f32("nothing", {});

  uint64_t length = 0;
  std::memcpy(&length, content_of(folder / "t").data(), 8);
  EXPECT_EQ((length + 8) % 64, 0u);

  write_safetensors(folder / "t", {});  // replaces
  EXPECT_TRUE(Safetensors(folder / "t").names().empty());
  EXPECT_TRUE(Safetensors(folder / "t").metadata().empty());
}

TEST(Safetensors, KeepsEveryTypeAsItIs) {
  const TemporaryFolder folder;
  std::vector<uint16_t> halves = {0, 1, 0x8000, 0x3c00, 0x7c00, 0x7e01};
  std::vector<int8_t> small = {-128, 0, 127};
  std::vector<uint8_t> bytes = {0, 200, 255};
  const Tensors tensors = {{"brain", {halves.data(), {{2, 3}, DType::kBF16}}},
                           {"half", {halves.data(), {{6}, DType::kF16}}},
                           {"signed", {small.data(), {{3}, DType::kI8}}},
                           {"unsigned", {bytes.data(), {{3, 1}, DType::kU8}}}};
  write_safetensors(folder / "t", tensors);
  const Safetensors file(folder / "t");
  EXPECT_EQ(file.info("brain").str(), "BF16[2, 3]");
  EXPECT_EQ(file.info("unsigned").str(), "U8[3, 1]");
  for (const auto& [name, tensor] : tensors) {
    std::vector<char> got(static_cast<size_t>(tensor.type.bytes()));
    file.read(name, {got.data(), tensor.type});
    EXPECT_EQ(std::memcmp(got.data(), tensor.data, got.size()), 0) << name;
  }
  std::vector<float> floats(6);
  file.read_f32("half", floats);
  EXPECT_EQ(floats[1], 0x1p-24f);
  EXPECT_EQ(floats[3], 1);
  EXPECT_FALSE(file.info("signed").fills(DType::kF32));
  EXPECT_FALSE(file.info("half").fills(DType::kBF16));
}

// What is read is each number rounded, and the checksum is that of the file.
TEST(Safetensors, RefusesNumbersThatF16WouldMakeInfinite) {
  const TemporaryFolder folder;
  const auto write = [&](float weight, DType dtype) {
    return test::message_of([&] { write_safetensors(folder / "t", {{"w", {&weight, {{1}}}}}, {}, dtype); });
  };
  EXPECT_EQ(write(-65520, DType::kF16), "a weight is -65520, but f16 ends at 65504; save as bf16 or f32");
  EXPECT_FALSE(fs::exists(folder / "t"));
  EXPECT_EQ(write(65519, DType::kF16), "");
  EXPECT_EQ(write(std::numeric_limits<float>::infinity(), DType::kF16), "");
  EXPECT_EQ(write(1e30f, DType::kBF16), "");
}

TEST(Safetensors, RoundsFloatsOnTheWay) {
  const TemporaryFolder folder;
  constexpr int64_t n = (5 << 18) + 3;
  std::vector<float> weights(n);
  Rng rng(1, 2);
  for (float& weight : weights) weight = static_cast<float>(rng.normal());
  std::vector<int32_t> counts = {5};
  for (const auto& [dtype, to, from] :
       {std::tuple(DType::kF16, &to_f16, &from_f16), std::tuple(DType::kBF16, &to_bf16, &from_bf16)}) {
    write_safetensors(folder / "t",
                      {{"w", {weights.data(), {n}}}, {"n", {counts.data(), {{1}, DType::kI32}}}}, {}, dtype);
    EXPECT_LT(fs::file_size(folder / "t"), 2 * n + 1000u);
    const Safetensors file(folder / "t");
    EXPECT_EQ(file.info("w").type->name, stored_name(dtype));
    EXPECT_EQ(file.info("n").str(), "I32[1]");
    std::vector<float> got(n);
    file.read_f32("w", got);
    for (size_t i = 0; i < n; ++i) ASSERT_EQ(got[i], from(to(weights[i]))) << i;
  }
}

TEST(Safetensors, LargerThanOnePiece) {
  const TemporaryFolder folder;
  constexpr int64_t n = (5 << 18) + 3;
  std::vector<float> weights(n);
  for (int64_t i = 0; i < n; ++i) weights[static_cast<size_t>(i)] = static_cast<float>(i);
  write_safetensors(folder / "t", {{"w", {weights.data(), {{n}}}}});
  const Safetensors file(folder / "t");
  for (int again = 0; again < 2; ++again) {  // what was forgotten comes back
    std::vector<float> got(n);
    file.read_f32("w", got);
    EXPECT_EQ(got, weights);
  }
}

TEST(Safetensors, RefusesWrongRequests) {
  const TemporaryFolder folder;
  std::vector<float> weights(6);
  std::vector<int32_t> counts(2);
  write_safetensors(folder / "t", {{"weight", {weights.data(), {{2, 3}}}},
                                   {"counts", {counts.data(), {{2}, DType::kI32}}}});
  const Safetensors file(folder / "t");
  const auto message = [&](auto&& request) {
    return test::message_of(request, test::kAnyKind).substr((folder / "t").string().size());
  };
  EXPECT_EQ(message([&] { file.info("wieght"); }), ": has no tensor 'wieght'; did you mean 'weight'?");
  EXPECT_EQ(message([&] { file.read_f32("weight", std::span(weights).first(5)); }),
            ": tensor 'weight' is F32[2, 3], 5 numbers were asked for");
  EXPECT_EQ(message([&] { file.read_f32("counts", std::span(weights).first(2)); }),
            ": tensor 'counts' is I32[2], floating point numbers were asked for");
  EXPECT_EQ(message([&] {
              file.read("weight", {counts.data(), {{2}, DType::kI32}});
            }),
            ": tensor 'weight' is F32[2, 3], 2 numbers were asked for");
  std::vector<int32_t> six(6);
  EXPECT_EQ(message([&] {
              file.read("weight", {six.data(), {{6}, DType::kI32}});
            }),
            ": tensor 'weight' is F32[2, 3], I32 was asked for");
  const Tensor tensor{weights.data(), {{1}}};
  EXPECT_THROW(write_safetensors(folder / "u", {{"__metadata__", tensor}}), Error);
  EXPECT_THROW(write_safetensors(folder / "u", {{"\xFF", tensor}}), Error);
  EXPECT_THROW(write_safetensors(folder / "u", {}, {{"a", "\xC0\x80"}}), Error);
  EXPECT_THROW(write_safetensors(folder / "missing" / "u", {}), Error);
  EXPECT_THROW(Safetensors(folder / "u"), Error);
  EXPECT_THROW(Safetensors(folder.path()), Error);
}

TEST(Safetensors, EveryTruncationIsRefused) {
  const TemporaryFolder folder;
  std::vector<float> weights(8, 1);
  write_safetensors(folder / "t", {{"a", {weights.data(), {{2}}}}, {"b", {weights.data(), {{2, 3}}}}});
  const std::string whole = content_of(folder / "t");
  EXPECT_EQ(complaint(folder / "t", whole), "");
  for (size_t n = 0; n < whole.size(); ++n) EXPECT_NE(complaint(folder / "t", whole.substr(0, n)), "") << n;
  EXPECT_NE(complaint(folder / "t", whole + "x"), "");
}

// Any single byte of the header set to something else: accepted or refused, but never more than that.
TEST(Safetensors, DamagedBytesDoNoHarm) {
  const TemporaryFolder folder;
  std::vector<float> weights(8, 1);
  write_safetensors(folder / "t", {{"a", {weights.data(), {{2}}}}, {"b", {weights.data(), {{2, 3}}}}},
                    {{"k", "v"}});
  const std::string whole = content_of(folder / "t");
  Rng rng(3);
  int refused = 0;
  for (int i = 0; i < 1000; ++i) {
    std::string damaged = whole;
    for (int64_t n = 1 + rng.below(3); n > 0; --n)
      damaged[static_cast<size_t>(rng.below(static_cast<int64_t>(whole.size()) - 32))] =
          static_cast<char>(rng.below(2) ? rng.below(256) : "{}[]\",:0129-.eE"[rng.below(15)]);
    refused += !complaint(folder / "t", damaged).empty();
  }
  EXPECT_GT(refused, 500);
}

TEST(Safetensors, HostileHeadersAreRefusedByName) {
  const TemporaryFolder folder;
  const std::string data(8, '\0');
  const auto tensor = [](const std::string& shape, const std::string& offsets,
                         const std::string& dtype = "F32") {
    return R"({"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
  };
  const std::string good = tensor("[2]", "[0,8]");
  EXPECT_EQ(complaint(folder / "t", file_with(R"({"a":)" + good + "}  \n", data)), "");
  EXPECT_EQ(complaint(folder / "t", file_with("{}", "")), "");
  EXPECT_EQ(complaint(folder / "t", file_with(R"({"e":)" + tensor("[0]", "[0,0]") + R"(,"a":)" + good +
                                                  R"(,"z":)" + tensor("[3,0]", "[8,8]") + "}",
                                              data)),
            "");
  const std::string deep(1000000, '[');
  std::string ones = "1";
  for (int i = 0; i < 64; ++i) ones += ",1";
  struct Case {
    std::string header, expected;
  };
  const std::vector<Case> cases = {
      {"", "does not begin with '{'"},
      {" {}", "does not begin with '{'"},
      {"[]", "does not begin with '{'"},
      {"{", "not JSON"},
      {"{}{}", "not JSON"},
      {"{}" + std::string(1, '\0'), "not JSON"},
      {R"({"a":)" + deep, "entry of 'a' is not an object but a list"},
      {R"({"a":)" + std::string(1000000, '{'), "not JSON"},
      {R"({"a":{"b":{"c":1}}})", "unknown property 'b'"},
      {R"({"a":{"shape":)" + deep, "shape cannot hold a list"},
      {R"({"a":{"dtype":[)", "dtype cannot hold a list"},
      {R"({"a":{"dtype":{)", "dtype cannot hold an object"},
      {R"({"a":null})", "is not an object but null"},
      {R"({"a":3})", "is not an object but a number"},
      {R"({"a":-3})", "is not an object but a number"},
      {R"({"a":)" + good + R"(,"a":)" + good + "}", "the name 'a' appears twice"},
      {R"({"a":{"dtype":"F32","dtype":"F32"}})", "has dtype twice"},
      {R"({"a":{"dtype":"F32","shape":[2]}})", "has no data_offsets"},
      {R"({"a":{}})", "has no dtype"},
      {R"({"a":)" + tensor("[2]", "[0,8]", "F8") + "}", "unknown type 'F8'; known are F32, F16"},
      {R"({"a":)" + tensor("[2]", "[0,8]", std::string(100000, 'F')) + "}", "unknown type 'FFF"},
      {R"({")" + std::string(100000, 'n') + R"(":1})", "nnn...'"},
      {R"({"a\u0000\u001b[2J":1})", R"('a\u0000\u001b[2J')"},
      {R"({"a":)" + tensor("2", "[0,8]") + "}", "shape cannot hold a number"},
      {R"({"a":)" + tensor("\"2\"", "[0,8]") + "}", "shape cannot hold text"},
      {R"({"a":)" + tensor("[\"2\"]", "[0,8]") + "}", "shape cannot hold text"},
      {R"({"a":)" + tensor("[true]", "[0,8]") + "}", "shape cannot hold true"},
      {R"({"a":)" + tensor("[-2]", "[0,8]") + "}", "shape holds -2; it must be a whole number"},
      {R"({"a":)" + tensor("[2.0]", "[0,8]") + "}", "shape holds 2.0"},
      {R"({"a":)" + tensor("[1e999]", "[0,8]") + "}", "not JSON"},
      {R"({"a":)" + tensor("[NaN]", "[0,8]") + "}", "not JSON"},
      {R"({"a":)" + tensor("[18446744073709551615]", "[0,8]") + "}", "shape holds 18446744073709551615"},
      {R"({"a":)" + tensor("[99999999999999999999999]", "[0,8]") + "}",
       "shape holds 99999999999999999999999"},
      {R"({"a":)" + tensor("[4294967296,4294967296]", "[0,8]") + "}", "more bytes than 64 bits count"},
      {R"({"a":)" + tensor("[4611686018427387904]", "[0,8]") + "}", "more bytes than 64 bits count"},
      {R"({"a":)" + tensor("[3]", "[0,8]") + "}", "needs 12 bytes, its data_offsets give 8"},
      {R"({"a":)" + tensor("[2]", "[0,8]", "F16") + "}", "needs 4 bytes"},
      {R"({"a":)" + tensor("[]", "[0,8]") + "}", "needs 4 bytes"},
      {R"({"a":)" + tensor("[2]", "[8,0]") + "}", "ends at byte 0, before its begin 8"},
      {R"({"a":)" + tensor("[2]", "[0]") + "}", "data_offsets has 1 numbers"},
      {R"({"a":)" + tensor("[2]", "[0,8,8]") + "}", "data_offsets has 3 numbers"},
      {R"({"a":)" + tensor("[2]", "[-8,0]") + "}", "data_offsets holds -8"},
      {R"({"a":)" + tensor("[2]", "[8,16]") + "}", "ends at byte 16 of the data, which has 8"},
      {R"({"a":)" + tensor("[2]", "[9223372036854775799,9223372036854775807]") + "}",
       "of the data, which has 8"},
      {R"({"a":)" + tensor("[1]", "[0,4]") + "}", "the tensors end at byte 4 of the data, which has 8"},
      {R"({"a":)" + tensor("[1]", "[4,8]") + "}",
       "bytes 0 to 4 of the data, before tensor 'a', belong to no tensor"},
      {R"({"a":)" + good + R"(,"b":)" + good + "}", "tensor 'b' at byte 0 overlaps"},
      {R"({"a":)" + good + R"(,"b":)" + tensor("[1]", "[4,8]") + "}", "tensor 'b' at byte 4 overlaps"},
      {R"({"a":)" + good + R"(,"b":)" + tensor("[0]", "[4,4]") + "}", "tensor 'b' at byte 4 overlaps"},
      {R"({"a":)" + tensor("[" + ones + "]", "[0,8]") + "}", "shape has more than 64 numbers"},
      {"{}", "the tensors end at byte 0"},
      {R"({"__metadata__":3})", "is not an object"},
      {R"({"__metadata__":{"a":3}})", "metadata 'a' is not text but a number"},
      {R"({"__metadata__":{"a":{}}})", "metadata 'a' is not text but an object"},
      {R"({"__metadata__":{"a":"","a":""}})", "metadata 'a' appears twice"},
      {R"({"__metadata__":{},"__metadata__":{}})", "appears twice"},
      {"{\"\xFF\":1}", "not JSON"},
  };
  for (const Case& hostile : cases) {
    const std::string said = complaint(folder / "t", file_with(hostile.header, data));
    EXPECT_NE(said.find(hostile.expected), std::string::npos)
        << hostile.header.substr(0, 200) << "\n  said: " << said << "\n  expected: " << hostile.expected;
  }
}

TEST(Safetensors, HostileLengthsAreRefused) {
  const TemporaryFolder folder;
  for (const uint64_t length :
       {uint64_t{3}, uint64_t{100'000'000}, uint64_t{100'000'001}, uint64_t{1} << 63, ~uint64_t{0}}) {
    const std::string claimed(reinterpret_cast<const char*>(&length), 8);
    EXPECT_NE(complaint(folder / "t", claimed + "{}").find("claims a header of " + std::to_string(length)),
              std::string::npos);
  }
}

TEST(Safetensors, ReadsWhatPythonWrote) {
  const TemporaryFolder folder;
  const std::string path = folder / "python";
  const test::PythonResult python = test::run_python("safetensors_file.py write '" + path + "'");
  HEED_NEEDS_ORACLE(python.missing());
  ASSERT_EQ(python.code, 0) << python.output;

  const Safetensors file(path);
  EXPECT_EQ(file.metadata(), (Metadata{{"format", "pt"}, {"by", "a test"}}));
  const std::string expected = content_of(path + ".f32");
  size_t at = 0;
  std::set<std::string> types;
  for (const std::string& name : file.names()) {
    const StoredTensor& info = file.info(name);
    types.insert(info.type->name);
    if (!info.type->to_f32) continue;
    std::vector<float> got(static_cast<size_t>(info.elements)), wanted(got.size());
    file.read_f32(name, got);
    ASSERT_LE(at + 4 * got.size(), expected.size());
    if (!got.empty()) std::memcpy(wanted.data(), expected.data() + at, 4 * got.size());
    at += 4 * got.size();
    for (size_t i = 0; i < got.size(); ++i) {
      // To the bit, but for which NaN it is.
      ASSERT_TRUE(std::memcmp(&got[i], &wanted[i], 4) == 0 || (std::isnan(got[i]) && std::isnan(wanted[i])))
          << name << "[" << i << "]: " << got[i] << ", expected " << wanted[i];
    }
  }
  EXPECT_EQ(at, expected.size());
  EXPECT_EQ(types.size(), stored_types().size()) << "every known type is tried";
  EXPECT_EQ(file.info("six").str(), "F32[1, 2, 1, 2, 1, 1]");
  std::vector<int32_t> ints(3);
  file.read("int", {ints.data(), {{3}, DType::kI32}});
  EXPECT_EQ(ints, (std::vector<int32_t>{INT32_MIN, 0, INT32_MAX}));
}

TEST(Safetensors, PythonReadsWhatWeWrote) {
  const TemporaryFolder folder;
  std::vector<float> weights = {1, -2.5f, 0.1f, 3, 4, 5};
  std::vector<int32_t> counts = {-5, 7};
  std::vector<uint16_t> halves = {0x3800, 0x0001};
  write_safetensors(folder / "ours",
                    {{"w", {weights.data(), {{3, 2}}}},
                     {"h", {halves.data(), {{2}, DType::kF16}}},
                     {"\xC3\xA4", {counts.data(), {{2}, DType::kI32}}},
                     {"Zero", {nullptr, {{0, 3}}}}},
                    {{"made by", "heed"}});
  const test::PythonResult python =
      test::run_python("safetensors_file.py check '" + (folder / "ours").string() + "'");
  HEED_NEEDS_ORACLE(python.missing());
  const std::string end = "\", \"made by\": \"heed\"}\n";
  EXPECT_TRUE(
      python.output.starts_with("Zero F32 [0, 3]\n"
                                "h F16 [2] 0.5 5.960464477539063e-08\n"
                                "w F32 [3, 2] 1.0 -2.5 0.10000000149011612 3.0 4.0 5.0\n"
                                "\xC3\xA4 I32 [2] -5 7\n"
                                "metadata {\"heed_checksum\": \""))
      << python.output;
  EXPECT_TRUE(python.output.ends_with(end)) << python.output;
  EXPECT_EQ(python.code, 0);
}

}  // namespace
}  // namespace heed::store
