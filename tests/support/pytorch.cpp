#include "tests/support/pytorch.h"

#include <cstring>
#include <stdexcept>

namespace heed::test {
namespace {

namespace fs = std::filesystem;

std::string content(const fs::path& path) { return std::string(MappedFile(path).text()); }

}  // namespace

PyTorch::PyTorch(std::string script)
    : script_(std::move(script)), folder_(std::make_unique<TemporaryFolder>()) {
  numbers_.open(*folder_ / "numbers.bin", std::ios::binary);
}

Json PyTorch::write(const void* data, const TensorType& type) {
  Json shape = Json::array();
  for (int i = 0; i < type.shape.rank(); ++i) shape.push_back(type.shape.dim(i));
  const Json at = {{"dtype", name_of(type.dtype)}, {"shape", shape}, {"offset", offset_}};
  numbers_.write(static_cast<const char*>(data), type.bytes());
  offset_ += type.bytes();
  return at;
}

void PyTorch::ask(const Json& cases) {
  const fs::path& folder = folder_->path();
  numbers_.close();
  std::ofstream(folder / "cases.json") << Json{{"cases", cases}};
  if (!numbers_) throw std::runtime_error("cannot write to " + folder.string());
  const PythonResult result = run_python(script_ + " '" + folder.string() + "'");
  if (std::getenv("HEED_ORACLE_KEEP")) {
    const fs::path kept = folder.string() + "-" + script_;
    fs::copy(folder, kept, fs::copy_options::recursive);
    std::printf("[  oracle  ] cases and answers are in %s\n", kept.c_str());
  }
  missing_ = result.missing();
  if (!missing_.empty()) missing_ += "; install python3-torch, nothing was compared";
  if (missing_.empty() && result.code != 0)
    throw std::runtime_error(text(script_, " failed (", result.code, "):\n", result.output));
  if (missing_.empty()) {
    const Json answered = Json::parse(content(folder / "answers.json"));
    for (const Json& answer : answered.at("cases")) answers_[answer.at("name")] = answer;
    values_ = content(folder / "answers.bin");
  }
  folder_.reset();
}

const Json& PyTorch::answer(const std::string& name) const {
  const Json& answer = answers_.at(name);
  if (answer.contains("error"))
    throw std::runtime_error(text(script_, ", ", name, ": ", answer["error"].get<std::string>()));
  return answer;
}

std::vector<double> PyTorch::read(const Json& at) const {
  const Shape shape(at.at("shape").get<std::vector<int64_t>>());
  const auto offset = at.at("offset").get<size_t>(), bytes = static_cast<size_t>(8 * shape.elements());
  if (offset + bytes > values_.size()) throw std::runtime_error(script_ + ": answers.bin is too short");
  std::vector<double> values(bytes / 8);
  if (bytes) std::memcpy(values.data(), values_.data() + offset, bytes);
  return values;
}

}  // namespace heed::test
