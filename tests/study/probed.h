// Tiny models with sentences, for tests of probes.
#pragma once

#include <stdexcept>

#include "study/probe.h"
#include "train/tiny_transformer.h"

namespace attnlab {

inline constexpr Index kV = 12;

// Letters for the tokens of tiny models.
class Letters final : public Tokenizer {
 public:
  std::vector<Token> encode(std::string_view) const override { return {}; }
  std::string decode(std::span<const Token>) const override { return ""; }
  std::string piece(Token id) const override { return std::string(1, static_cast<char>('a' + id)); }
  Index size() const override { return kV; }
  std::string name() const override { return "letters"; }
  std::string serialized() const override { return ""; }
};

struct Probed {
  explicit Probed(ModelKind kind, const std::function<void(ModelSpec&)>& change = {}, DType type = DType::f64)
      : tiny(kind, kV, type, change), subject{.model = *tiny.model, .parameters = tiny.parameters} {
    subject.target = &letters;
    const bool pooled = tiny.model->spec().pooled(), reads_source = kind != ModelKind::decoder || pooled;
    if (reads_source) subject.source = &letters;
    const auto sources = tiny_sources(6, kV);
    for (const auto& source : sources) {
      Example example;
      if (reads_source) example.source = source;
      example.target = pooled ? std::vector<Token>{source.front()} : source;  // one label, or as many
      example.target.insert(example.target.begin(), kBegin);
      if (kind == ModelKind::decoder && !pooled) example.target.push_back(3);
      subject.examples.push_back(example);
    }
    subject.scored.examples = subject.examples;
  }
  Letters letters;
  TinyTransformer tiny;
  ProbeSubject subject;
};

inline std::function<void(ModelSpec&)> pooled_by(Pooling pool) {
  return [pool](ModelSpec& spec) { spec.head.pool = pool; };
}

inline const Tensor& array_of(const ProbeResult& result, const std::string& name) {
  for (const NamedTensor& array : result.arrays)
    if (array.name == name) return array.tensor;
  throw std::logic_error("no array " + name);
}

inline void set_all_stacks(ModelSpec& spec, const std::function<void(StackSpec&)>& change) {
  for (StackSpec* stack : {&spec.stack, &spec.encoder, &spec.decoder}) change(*stack);
}

}  // namespace attnlab
