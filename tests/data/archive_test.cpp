// Archives that hold the files of data sets: reading them, and fetching out of them.
#include "data/archive.h"

#include <zlib.h>

#include <fstream>

#include "core/error.h"
#include "data/fetch_archive.h"
#include "data/files.h"
#include "data/sha256.h"
#include "support/catch.h"
#include "support/scratch.h"

using namespace attnlab;
namespace fs = std::filesystem;

namespace {

std::string raw_bytes(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string number(std::uint64_t value, std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i, value >>= 8) text += static_cast<char>(value & 255);
  return text;
}

std::string tar_member(const std::string& name, const std::string& bytes, char type = '0') {
  std::string header(512, '\0');
  header.replace(0, name.size(), name);
  char size[13];
  std::snprintf(size, sizeof size, "%011zo", bytes.size());
  header.replace(124, 11, size);
  header[156] = type;
  header.replace(257, 5, "ustar");
  return header + bytes + std::string((512 - bytes.size() % 512) % 512, '\0');
}

std::string deflated(const std::string& bytes) {
  std::string packed(bytes.size() + 100, '\0');
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

// Members stored as they are, or packed.
std::string zip_of(const std::vector<std::pair<std::string, std::string>>& members, bool pack) {
  std::string file, directory;
  for (const auto& [name, bytes] : members) {
    const std::string data = pack ? deflated(bytes) : bytes;
    const std::string sizes = number(data.size(), 4) + number(bytes.size(), 4) + number(name.size(), 2);
    const std::string method = number(pack ? 8 : 0, 2);
    directory += "PK\x01\x02" + std::string(6, '\0') + method + std::string(8, '\0') + sizes +
                 std::string(12, '\0') + number(file.size(), 4) + name;
    file += "PK\x03\x04" + std::string(4, '\0') + method + std::string(8, '\0') + sizes +
            std::string(2, '\0') + name + data;
  }
  const std::string end = "PK\x05\x06" + std::string(4, '\0') + number(members.size(), 2) +
                          number(members.size(), 2) + number(directory.size(), 4) + number(file.size(), 4) +
                          number(0, 2);
  return file + directory + end;
}

const std::string kText = "some text, some text, some text\n";

std::vector<std::string> archives() {
  const std::string large(70000, 'x');
  return {tar_member("set", "", '5') + tar_member("set/a", kText) + tar_member("set/b", large) +
              std::string(1024, '\0'),
          zip_of({{"set/a", kText}, {"set/b", large}}, true),
          zip_of({{"set/a", kText}, {"set/b", large}}, false)};
}

}  // namespace

TEST_CASE("members of tar and zip archives come out as they were put in") {
  const ScratchFolder scratch;
  for (const std::string& bytes : archives()) {
    write_file(scratch.path() / "archive", bytes);
    const auto members = read_members(scratch.path() / "archive", {"set/b", "set/a"});
    CHECK(members.size() == 2);
    CHECK(members.at("set/a") == kText);
    CHECK(members.at("set/b") == std::string(70000, 'x'));
    CHECK_THROWS_AS(read_members(scratch.path() / "archive", {"set/c"}), DataError);
  }
  gzFile file = gzopen((scratch.path() / "packed").c_str(), "wb");
  gzwrite(file, archives()[0].data(), static_cast<unsigned>(archives()[0].size()));
  gzclose(file);
  CHECK(read_members(scratch.path() / "packed", {"set/a"}).at("set/a") == kText);
}

TEST_CASE("archives that were cut or changed give errors, not crashes") {
  const ScratchFolder scratch;
  const fs::path path = scratch.path() / "archive";
  for (const std::string& bytes : archives()) {
    for (const std::size_t length : {std::size_t{0}, std::size_t{3}, std::size_t{100}, std::size_t{600},
                                     bytes.size() / 2, bytes.size() * 19 / 20}) {
      if (length >= bytes.size()) continue;
      write_file(path, bytes.substr(0, length));
      CHECK_THROWS_AS(read_members(path, {"set/a", "set/b"}), DataError);
    }
    for (std::size_t at = 0; at < bytes.size(); at += at < 700 ? 29 : 9001) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(changed[at] ^ 0x7f);
      write_file(path, changed);
      try {
        read_members(path, {"set/a", "set/b"});
      } catch (const DataError&) {
        // One of the two is what it must be.
      }
    }
  }
  CHECK_THROWS_AS(read_members(scratch.path() / "absent", {"a"}), DataError);
}

TEST_CASE("files come out of a fetched archive, which must be the published one") {
  const ScratchFolder source, root;
  const fs::path archive = source.path() / "set.zip", folder = root.path() / "set";
  write_file(archive, archives()[1]);
  const std::string sum = sha256_hex(raw_bytes(archive)), url = "file://" + archive.string();
  const std::vector<DataSetFile> files{
      {.name = "a", .url = url, .sha256 = sha256_hex(kText), .member = "set/a"},
      {.name = "b", .url = url, .sha256 = {}, .member = "set/b", .archive_sha256 = sum, .bytes = 70000}};
  std::vector<std::string> said;
  FetchOptions options{.root = root.path(), .from = source.path(), .say = [&said](const std::string& line) {
                         said.push_back(line);
                       }};
  fetch_members(files, folder, options);
  CHECK(raw_bytes(folder / "a") == kText);
  CHECK(raw_bytes(folder / "b") == std::string(70000, 'x'));
  CHECK(said == std::vector<std::string>{"a: unpacked", "b: unpacked"});
  fetch_members(files, folder, options);
  CHECK(said.back() == "b: already there");

  // Plain files in the folder serve as well, in the subfolder of the set's name.
  fs::create_directories(source.path() / "other");
  fs::rename(folder / "b", source.path() / "other" / "b");
  fs::rename(folder / "a", source.path() / "other" / "a");
  fetch_members(files, root.path() / "other", options);
  CHECK(said.back() == "b: copied; of its contents only the size could be checked");

  auto changed = files;
  for (DataSetFile& file : changed) file.archive_sha256 = sha256_hex("another archive");
  CHECK_THROWS_AS(fetch_members(changed, root.path() / "x", options), DataError);
  changed = files;
  changed[0].sha256 = sha256_hex("another file");
  CHECK_THROWS_AS(fetch_members(changed, root.path() / "y", options), DataError);
  write_file(folder / "b", "the user's own");
  CHECK_THROWS_AS(fetch_members(files, folder, options), DataError);
  CHECK(raw_bytes(folder / "b") == "the user's own");

  if (std::system("curl --version > /dev/null 2>&1") != 0) return;
  options.from.clear();
  fetch_members(files, root.path() / "downloaded", options);
  CHECK(raw_bytes(root.path() / "downloaded" / "a") == kText);
  CHECK(std::distance(fs::directory_iterator(root.path() / "downloaded"), {}) == 2);
}
