// Random damage to a valid file: the reader always accepts or throws ConfigError with lines of the promised
// form.
#include <array>
#include <random>
#include <sstream>

#include "specs.h"
#include "support/catch.h"

using namespace attnlab;
using namespace config_test;

namespace {

constexpr const char* kValid =
    "# a run\n"
    "name: \"first é run\"\n"
    "seed: 3\n"
    "model:\n"
    "  width: 32\n"
    "  heads: 4\n"
    "  skip: {on: true, scale: 0.5}\n"
    "  norm: post\n"
    "  dropout: 0.2\n"
    "  shape:\n"
    "    kind: feature\n"
    "    inner: {kind: band, width: 3}\n"
    "  encoder:\n"
    "    layers: 2\n"
    "    shape: plain\n"
    "  decoder: {}\n"
    "train:\n"
    "  learning_rate: 1e-3\n"
    "  max_steps: null\n"
    "  trainable:\n"
    "    - '*.norm.*'\n"
    "    - head\n"
    "  betas: [0.9, 0.98]\n";

constexpr std::array kPieces{":",         ": ",      "- ",     "? ",    "[",           "]",    "{",    "}",
                             ", ",        "#",       " #",     "'",     "\"",          "\\",   "|",    "|\n",
                             ">\n",       "&a",      "*a",     "!",     "!!int ",      "%",    "@",    "`",
                             "~",         "null",    "---\n",  "...\n", "\n",          "\r",   "\t",   " ",
                             "  ",        "<<: ",    "kind: ", "kind",  "base: ",      "\xff", "\xC3", "é",
                             "0",         "-1",      "1e999",  ".nan",  ".inf",        "true", "yes",  "=",
                             "encoder: ", "shape: ", "\x01",   "\x04",  "\xEF\xBB\xBF"};

std::string mutate(std::string text, std::mt19937& random) {
  const int changes = 1 + static_cast<int>(random() % 4);
  for (int change = 0; change < changes && !text.empty(); ++change) {
    const std::size_t at = random() % text.size();
    const std::size_t length = std::min<std::size_t>(random() % 12, text.size() - at);
    const std::size_t other = random() % text.size();
    switch (random() % 7) {
      case 0:
        text.erase(at, length);
        break;
      case 1:
        text.insert(at, kPieces[random() % kPieces.size()]);
        break;
      case 2:
        text.replace(at, length, kPieces[random() % kPieces.size()]);
        break;
      case 3:
        text[at] = static_cast<char>(random());
        break;
      case 4:
        text.insert(at, text.substr(other, random() % 40));
        break;
      case 5:
        text.resize(at);
        break;
      default:
        std::swap(text[at], text[other]);
        break;
    }
  }
  return text;
}

// "file:line:column: error: …" or the count of those left out.
bool well_formed(const std::string& line) {
  if (line.starts_with("… and ")) return true;
  const std::size_t error = line.find(": error: ");
  if (error == std::string::npos) return false;
  int colons = 0;
  for (std::size_t i = 0; i < error; ++i) colons += line[i] == ':';
  return colons == 2 && line.size() > error + 9;
}

void read_hostile(const Tree& tree, const std::string& text, int& accepted, int& refused) {
  RunSpec spec;
  try {
    read_spec(tree, spec);
    ++accepted;
  } catch (const ConfigError& error) {
    ++refused;
    std::istringstream lines(error.what());
    for (std::string line; std::getline(lines, line);)
      if (!well_formed(line)) FAIL("malformed message: " << line << "\nfor: " << text);
    return;
  }
  // What was accepted reads back to itself.
  const std::string written = write_spec(spec, tree);
  RunSpec back;
  try {
    read_spec(Tree::parse(written), back);
  } catch (const ConfigError& error) {
    FAIL("written spec refused: " << error.what() << "\nfor: " << text << "\nwritten: " << written);
  }
  if (!diff(spec, back).empty()) FAIL("spec changed by writing, for: " << text << "\nwritten: " << written);
}

}  // namespace

TEST_CASE("Damaged files are accepted or refused, never worse") {
  REQUIRE(problems_in(kValid).empty());
  std::mt19937 random(5);
  int accepted = 0, refused = 0;
  for (int i = 0; i < 4000; ++i) {
    const std::string text = mutate(kValid, random);
    read_hostile(Tree::parse(text, "a.yaml"), text, accepted, refused);
  }
  CHECK(accepted > 100);
  CHECK(refused > 1000);
}

TEST_CASE("Random bytes and random pieces of YAML are accepted or refused, never worse") {
  std::mt19937 random(6);
  int accepted = 0, refused = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string text;
    const std::size_t pieces = random() % 60;
    for (std::size_t p = 0; p < pieces; ++p)
      text += random() % 4 ? std::string(kPieces[random() % kPieces.size()])
                           : std::string(1, static_cast<char>(random()));
    read_hostile(Tree::parse(text, "a.yaml"), text, accepted, refused);
  }
  CHECK(refused > 1000);
}

TEST_CASE("Hostile assignments are accepted or refused, never worse") {
  std::mt19937 random(8);
  int accepted = 0, refused = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string text = std::array{"model.shape.kind=",  "name=", "train.betas=", "model=", "",
                                  "model.encoder.skip="}[random() % 6];
    const std::size_t pieces = random() % 8;
    for (std::size_t p = 0; p < pieces; ++p) text += kPieces[random() % kPieces.size()];
    Tree tree = Tree::parse(kValid, "a.yaml");
    tree.set(text);
    read_hostile(tree, text, accepted, refused);
  }
  CHECK(accepted > 10);
  CHECK(refused > 500);
}
