#include "data/llama2c_vocabulary.h"

#include <cstdint>
#include <cstring>

#include "core/error.h"

namespace attnlab {
namespace {

// Protocol buffers, as far as a SentencePiece model needs them.
class Message {
 public:
  void number(unsigned field, std::uint64_t value) {
    varint(field << 3U);
    varint(value);
  }
  void single(unsigned field, float value) {
    varint(field << 3U | 5U);
    bytes_.append(reinterpret_cast<const char*>(&value), 4);
  }
  void text(unsigned field, std::string_view value) {
    varint(field << 3U | 2U);
    varint(value.size());
    bytes_ += value;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7U) bytes_ += static_cast<char>(value | 0x80U);
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  bool done() const { return rest_.empty(); }
  template <class T>
  T value() {
    T result;
    const std::string_view part = take(sizeof result);
    std::memcpy(&result, part.data(), sizeof result);
    return result;
  }
  std::string_view take(std::size_t count) {
    if (count > rest_.size()) throw DataError("a llama2.c vocabulary that is cut off, or no such file");
    const std::string_view part = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return part;
  }

 private:
  std::string_view rest_;
};

enum PieceType : std::uint8_t { kNormal = 1, kUnknown = 2, kControl = 3, kByte = 6 };

PieceType type_of(std::string_view piece, std::int64_t id) {
  if (id == 0) return kUnknown;
  if (id <= 2) return kControl;
  return piece.size() == 6 && piece.starts_with("<0x") && piece.ends_with(">") ? kByte : kNormal;
}

std::string with_space_signs(std::string_view piece) {
  std::string text;
  for (const char c : piece) text += c == ' ' ? "\xe2\x96\x81" : std::string(1, c);
  return text;
}

}  // namespace

std::string sentence_piece_model(std::string_view bytes) {
  constexpr const char* kSpecial[] = {"<unk>", "<s>", "</s>"};
  Reader reader(bytes);
  reader.value<std::int32_t>();  // the longest piece
  Message model;
  std::int64_t count = 0;
  for (; !reader.done(); ++count) {
    const auto score = reader.value<float>();
    const auto length = reader.value<std::int32_t>();
    if (length < 0) throw DataError("a llama2.c vocabulary with a piece of negative length");
    const std::string_view piece = reader.take(static_cast<std::size_t>(length));
    Message entry;
    entry.text(1, count < 3 ? std::string(kSpecial[count]) : with_space_signs(piece));
    entry.single(2, score);
    entry.number(3, type_of(piece, count));
    model.text(1, entry.bytes());
  }
  Message trainer, normalizer;
  trainer.number(3, 2);  // BPE
  trainer.number(4, static_cast<std::uint64_t>(count));
  trainer.number(35, 1);  // byte fall-back
  normalizer.text(1, "identity");
  normalizer.number(3, 1);  // a space before the text
  normalizer.number(4, 0);  // spaces are kept
  normalizer.number(5, 1);  // and written as their sign
  model.text(2, trainer.bytes());
  model.text(3, normalizer.bytes());
  return model.bytes();
}

}  // namespace attnlab
