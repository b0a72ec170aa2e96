// The tokenizers of published models: `byte_pairs` (GPT-2), `word_pieces` (BERT) and `sentence_piece`
// (Llama). They are read from files and learn nothing.
#include <nlohmann/json.hpp>

#include "config/registry.h"
#include "core/error.h"
#include "core/json_fault.h"
#include "data/byte_pairs_files.h"
#include "data/files.h"
#include "data/llama2c_vocabulary.h"
#include "data/subword.h"
#include "data/tokenizer_spec.h"
#include "data/word_pieces.h"

namespace attnlab {
namespace {

namespace fs = std::filesystem;

struct PublishedSpec : TokenizerSpec {
  std::string path;
  bool fixed() const override { return true; }

 protected:
  void path_field(Fields& f, const char* doc) { f("path", path, doc); }
  fs::path given(const char* kind) const {
    if (path.empty())
      throw DataError(std::string("tokenizer ") + kind + ": set its key path to the published files");
    return path;
  }
};

struct BytePairsSpec final : PublishedSpec {
  std::string begin, end = "<|endoftext|>";
  void fields(Fields& f) override {
    path_field(f, "folder with tokenizer.json, or with vocab.json and merges.txt; or a tokenizer.json");
    f("begin", begin, "entry that begins a text; empty: the one that ends it");
    f("end", end, "entry that ends a text");
  }
  std::string learn(const std::vector<std::string>&) const override {
    return BytePairs(read_byte_pairs(given("byte_pairs"), begin, end)).serialized();
  }
  std::shared_ptr<const Tokenizer> parse(std::string bytes) const override {
    return std::make_shared<BytePairs>(BytePairs::parse(bytes));
  }
};

struct WordPiecesSpec final : PublishedSpec {
  std::optional<bool> lowercase;
  void fields(Fields& f) override {
    path_field(f, "folder with vocab.txt, or such a file");
    f("lowercase", lowercase,
      "fold case, and take off accents where tokenizer_config.json beside it says nothing else; unset: as "
      "that says, or else true");
  }
  std::string learn(const std::vector<std::string>&) const override {
    const fs::path from = given("word_pieces");
    std::error_code error;
    const fs::path file = fs::is_directory(from, error) ? from / "vocab.txt" : from;
    std::vector<std::string> lines = read_lines(file);
    for (std::string& line : lines)
      if (line.ends_with('\r')) line.pop_back();
    WordPieceModel model = stated(file.parent_path());
    model.pieces = std::move(lines);
    return WordPieces(std::move(model)).serialized();
  }
  std::shared_ptr<const Tokenizer> parse(std::string bytes) const override {
    return std::make_shared<WordPieces>(WordPieces::parse(bytes));
  }

 private:
  // How text is cut, as tokenizer_config.json says and BERT does where it says nothing.
  WordPieceModel stated(const fs::path& folder) const {
    std::error_code error;
    const fs::path file = folder / "tokenizer_config.json";
    const std::string bytes = fs::exists(file, error) ? read_bytes(file) : "{}";
    if (const std::string fault = json_fault(bytes); !fault.empty())
      throw DataError(file.string() + " " + fault);
    const auto root = nlohmann::json::parse(bytes, nullptr, false);
    if (!root.is_object()) throw DataError(file.string() + " is damaged: no JSON object");
    const auto setting = [&root, &file](const char* key, bool otherwise) {
      const auto found = root.find(key);
      if (found == root.end() || found->is_null()) return otherwise;
      if (!found->is_boolean()) throw DataError(join_text(file.string(), ": ", key, " is not true or false"));
      return found->get<bool>();
    };
    WordPieceModel model;
    model.lowercase = lowercase.value_or(setting("do_lower_case", true));
    model.strip_accents = setting("strip_accents", model.lowercase);
    model.ideographs_apart = setting("tokenize_chinese_chars", true);
    return model;
  }
};

struct SentencePieceSpec final : PublishedSpec {
  void fields(Fields& f) override {
    path_field(f,
               "folder with tokenizer.model, or a SentencePiece model, or a vocabulary of llama2.c "
               "(tokenizer.bin in a folder, or any file named .bin)");
  }
  std::string learn(const std::vector<std::string>&) const override {
    const fs::path from = given("sentence_piece");
    std::error_code error;
    fs::path file = fs::is_directory(from, error) ? from / "tokenizer.model" : from;
    if (!fs::exists(file, error) && fs::exists(from / kLlama2cVocabulary, error))
      file = from / kLlama2cVocabulary;
    const std::string bytes = read_bytes(file);
    return file.extension() == ".bin" ? sentence_piece_model(bytes) : bytes;
  }
  std::shared_ptr<const Tokenizer> parse(std::string bytes) const override {
    return parse_subwords(std::move(bytes));  // a run folder keeps it as `subword`
  }
};

const Registered<TokenizerSpec, BytePairsSpec> byte_pairs{"byte_pairs",
                                                          "published byte-level BPE, as GPT-2 has it"};
const Registered<TokenizerSpec, WordPiecesSpec> word_pieces{"word_pieces",
                                                            "published WordPiece, as BERT has it"};
const Registered<TokenizerSpec, SentencePieceSpec> sentence_piece{"sentence_piece",
                                                                  "published SentencePiece, as Llama has it"};

}  // namespace
}  // namespace attnlab
