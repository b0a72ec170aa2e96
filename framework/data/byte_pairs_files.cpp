#include "data/byte_pairs_files.h"

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/json_fault.h"
#include "data/files.h"

namespace attnlab {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::size_t kMostUnusedIds = 100'000;  // more would be room for entries that no file holds

Json read_json(const fs::path& path) {
  const std::string bytes = read_bytes(path);
  if (const std::string fault = json_fault(bytes); !fault.empty())
    throw DataError(path.string() + " " + fault);
  Json root = Json::parse(bytes, nullptr, false);
  if (!root.is_object()) throw DataError(path.string() + " is damaged: no JSON object");
  return root;
}

// `entries`: how many there are, about.
void put(BytePairModel& model, const std::string& piece, const Json& id, std::size_t entries,
         const fs::path& path) {
  if (!id.is_number_integer() || id.get<std::int64_t>() < 0)
    throw DataError(path.string() + ": the entry '" + piece.substr(0, 40) + "' has no id");
  const auto at = id.get<std::size_t>();
  if (at > entries + kMostUnusedIds)
    throw DataError(join_text(path.string(), ": the entry '", piece.substr(0, 40), "' has the id ", at,
                              " among ", entries, " entries"));
  if (model.pieces.size() <= at) model.pieces.resize(at + 1);
  if (!model.pieces[at].empty() && model.pieces[at] != piece)
    throw DataError(join_text(path.string(), ": two entries have the id ", at));
  model.pieces[at] = piece;
}

void put_vocabulary(BytePairModel& model, const Json& vocabulary, const fs::path& path) {
  if (!vocabulary.is_object()) throw DataError(path.string() + " is damaged: no vocabulary");
  for (const auto& [piece, id] : vocabulary.items()) put(model, piece, id, vocabulary.size(), path);
}

void put_merge(BytePairModel& model, const std::string& line, const fs::path& path) {
  const std::size_t space = line.find(' ');
  if (space == std::string::npos || space == 0 || space + 1 == line.size())
    throw DataError(path.string() + ": not a merge: '" + line.substr(0, 60) + "'");
  model.merges.emplace_back(line.substr(0, space), line.substr(space + 1));
}

// Throws unless words are cut as GPT-2 does; returns whether digits are cut apart before.
bool cuts_digits(const Json& pre_tokenizer, const fs::path& path) {
  const std::string type = pre_tokenizer.is_object() ? pre_tokenizer.value("type", "") : "none";
  if (type == "ByteLevel" && !pre_tokenizer.value("add_prefix_space", false) &&
      pre_tokenizer.value("use_regex", true))
    return false;
  const Json parts = type == "Sequence" ? pre_tokenizer.value("pretokenizers", Json::array()) : Json::array();
  const bool digits = parts.size() == 2 && parts[0].value("type", "") == "Digits" &&
                      parts[0].value("individual_digits", false) && parts[1].value("type", "") == "ByteLevel";
  if (digits) return cuts_digits(parts[1], path), true;
  throw DataError(path.string() + ": text is cut into words in a way that attnlab does not know: " +
                  pre_tokenizer.dump().substr(0, 200));
}

BytePairModel from_tokenizer_json(const fs::path& path) {
  const Json root = read_json(path);
  try {
    const Json& model = root.at("model");
    if (model.value("type", "BPE") != "BPE" || model.value("byte_fallback", false))
      throw DataError(path.string() + ": not a byte-level BPE, but " + model.value("type", "BPE"));
    if (root.contains("normalizer") && !root.at("normalizer").is_null())
      throw DataError(path.string() + ": its text is normalised, which attnlab does not do here");
    BytePairModel result;
    result.single_digits = cuts_digits(root.value("pre_tokenizer", Json()), path);
    put_vocabulary(result, model.at("vocab"), path);
    for (const auto& merge : model.at("merges")) {
      if (merge.is_string())
        put_merge(result, merge.get<std::string>(), path);
      else
        result.merges.emplace_back(merge.at(0).get<std::string>(), merge.at(1).get<std::string>());
    }
    for (const auto& added : root.value("added_tokens", Json::array()))
      put(result, added.at("content").get<std::string>(), added.at("id"), result.pieces.size(), path);
    return result;
  } catch (const Json::exception& error) {
    throw DataError(path.string() + " is damaged: " + error.what());
  }
}

BytePairModel from_vocabulary_and_merges(const fs::path& folder) {
  BytePairModel model;
  put_vocabulary(model, read_json(folder / "vocab.json"), folder / "vocab.json");
  for (const auto& line : read_lines(folder / "merges.txt"))
    if (!line.empty() && !line.starts_with("#version")) put_merge(model, line, folder / "merges.txt");
  return model;
}

}  // namespace

BytePairModel read_byte_pairs(const fs::path& path, const std::string& begin, const std::string& end) {
  std::error_code error;
  const bool folder = fs::is_directory(path, error);
  const fs::path json = folder ? path / "tokenizer.json" : path;
  BytePairModel model =
      fs::exists(json, error) ? from_tokenizer_json(json) : from_vocabulary_and_merges(path);
  model.begin = begin;
  model.end = end;
  return model;
}

}  // namespace attnlab
