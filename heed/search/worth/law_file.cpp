#include "heed/search/worth/law_file.h"

#include "heed/store/json_file.h"

namespace heed::search {

namespace fs = std::filesystem;

namespace {
constexpr const char* kUsualLaw = "letters";
}

Law prior_of(const spec::Space& space) { return load_law(space.law.empty() ? kUsualLaw : space.law); }

Law load_law(const std::string& name_or_path) {
  const bool named = name_or_path.find_first_of("./") == std::string::npos && !fs::exists(name_or_path);
  fs::path path = named ? spec::spaces_folder() / (name_or_path + ".law.json") : fs::path(name_or_path);
  if (fs::is_directory(path)) path /= kLawFile;
  if (!fs::exists(path))
    throw usage_error(name_or_path, ": no law of worth found at ", path.string(),
                      "; `heed worth TEXT -o FOLDER` fits one");
  const Json json = store::read_json_object(path);
  if (!json.contains("law")) throw damaged_error(path.string(), ": it is not a law of worth");
  return read_law(json["law"], path.string());
}

}  // namespace heed::search
