// Vocabularies of llama2.c (tokenizer.bin, tok512.bin): scores and pieces, without the settings of the
// SentencePiece model that they came from.
#pragma once

#include <string>
#include <string_view>

namespace attnlab {

inline constexpr const char* kLlama2cVocabulary = "tokenizer.bin";  // in the folder of a model

// The SentencePiece model again: BPE with byte fall-back, a space put before the text, nothing normalised, as
// Llama has it. Throws DataError for bytes of another format.
std::string sentence_piece_model(std::string_view bytes);

}  // namespace attnlab
