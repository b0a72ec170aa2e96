#include "data/fetch.h"

#include <zlib.h>

#include <cstdlib>
#include <fstream>
#include <iostream>

#include "config/error.h"
#include "config/registry.h"
#include "core/error.h"
#include "data/files.h"
#include "data/sha256.h"
#include "support/catch.h"
#include "support/scratch.h"

using namespace attnlab;

namespace {

void write_packed(const std::filesystem::path& path, const std::string& bytes) {
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(file);
}

std::string raw_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool has_curl() { return std::system("curl --version > /dev/null 2>&1") == 0; }

// A source folder with a packed file that is served under a file:// address.
struct Source : ScratchFolder {
  std::string text;
  std::filesystem::path packed = path() / "text.gz";
  DataSetFile file;
  Source() {
    for (int i = 0; i < 5000; ++i) text += "line " + std::to_string(i * 7919 % 10007) + "\n";
    write_packed(packed, text);
    file = {"text", "file://" + packed.string(), sha256_hex(text)};
  }
};

}  // namespace

TEST_CASE("known data sets have names, addresses and hashes") {
  for (const auto& kind : Registry<DataSet>::list()) {
    const auto set = Registry<DataSet>::make(kind.name);
    CHECK_FALSE(set->licence().empty());
    CHECK_FALSE(set->source().empty());
    CHECK(set->source().find("://") == std::string::npos);
    for (const DataSetFile& file : set->files()) {
      CHECK(file.url.starts_with("https://"));
      const bool vouched_for = file.sha256.empty() && file.bytes > 0 && !file.member.empty();
      CHECK((vouched_for ? file.archive_sha256 : file.sha256).size() == 64);
    }
  }
  CHECK(Registry<DataSet>::make("multi30k")->files().size() == 18);
  CHECK_THROWS_AS(fetch_data_set("multi30", {}), ConfigError);
}

TEST_CASE("files come from a folder, packed or plain, and are kept when right") {
  const Source source;
  const ScratchFolder root;
  std::vector<std::string> said;
  const FetchOptions options{.root = root.path(),
                             .from = source.path(),
                             .say = [&said](const std::string& line) { said.push_back(line); }};
  fetch_file(source.file, root.path() / "set", options);
  CHECK(raw_bytes(root.path() / "set" / "text") == source.text);
  fetch_file(source.file, root.path() / "set", options);
  CHECK(said == std::vector<std::string>{"text: copied", "text: already there"});
  // The folder may also be the one above.
  std::filesystem::create_directories(source.path() / "other");
  std::filesystem::rename(source.packed, source.path() / "other" / "text.gz");
  fetch_file(source.file, root.path() / "other", options);
  CHECK(raw_bytes(root.path() / "other" / "text") == source.text);
}

TEST_CASE("wrong files are refused and nothing of the user's is touched") {
  const Source source;
  const ScratchFolder root;
  const FetchOptions options{.root = root.path(), .from = source.path()};
  DataSetFile other = source.file;
  other.sha256 = sha256_hex("something else");
  CHECK_THROWS_AS(fetch_file(other, root.path() / "set", options), DataError);
  CHECK_FALSE(std::filesystem::exists(root.path() / "set" / "text"));
  write_file(root.path() / "set" / "text", "the user's own");
  CHECK_THROWS_AS(fetch_file(source.file, root.path() / "set", options), DataError);
  CHECK(raw_bytes(root.path() / "set" / "text") == "the user's own");
  other.name = "absent";
  CHECK_THROWS_AS(fetch_file(other, root.path() / "set", options), DataError);
}

TEST_CASE("downloads are unpacked, resumed and checked") {
  if (!has_curl()) {
    std::cerr << "skipped: there is no curl\n";
    return;
  }
  const Source source;
  const ScratchFolder root;
  const FetchOptions options{.root = root.path()};
  fetch_file(source.file, root.path() / "a", options);
  CHECK(raw_bytes(root.path() / "a" / "text") == source.text);
  CHECK_FALSE(std::filesystem::exists(root.path() / "a" / "text.partial"));
  const std::string packed = raw_bytes(source.packed);
  // Half of it, all of it, and something that is not its beginning, lie there already.
  write_file(root.path() / "b" / "text.partial", packed.substr(0, packed.size() / 2));
  fetch_file(source.file, root.path() / "b", options);
  CHECK(raw_bytes(root.path() / "b" / "text") == source.text);
  write_file(root.path() / "c" / "text.partial", packed);
  fetch_file(source.file, root.path() / "c", options);
  CHECK(raw_bytes(root.path() / "c" / "text") == source.text);
  write_file(root.path() / "d" / "text.partial", "no beginning of it");
  CHECK_THROWS_AS(fetch_file(source.file, root.path() / "d", options), DataError);
  fetch_file(source.file, root.path() / "d", options);  // the wrong part is gone
  CHECK(raw_bytes(root.path() / "d" / "text") == source.text);
  DataSetFile absent = source.file;
  absent.url += ".absent";
  CHECK_THROWS_AS(fetch_file(absent, root.path() / "e", options), IoError);
}

TEST_CASE("the stored copies of the known data sets are the published files") {
  const char* const shared = std::getenv("ATTNLAB_SHARED_DATA");
  if (shared == nullptr) {
    std::cerr << "skipped: ATTNLAB_SHARED_DATA is not set, no data set was fetched\n";
    return;
  }
  const ScratchFolder root;
  for (const auto& kind : Registry<DataSet>::list()) {
    if (!std::filesystem::exists(std::filesystem::path(shared) / kind.name)) continue;
    const auto folder = fetch_data_set(kind.name, {.root = root.path(), .from = shared});
    for (const DataSetFile& file : Registry<DataSet>::make(kind.name)->files()) {
      CHECK(sha256_hex(raw_bytes(folder / file.name)) == file.sha256);
    }
  }
}
