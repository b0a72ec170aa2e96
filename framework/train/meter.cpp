#include "train/meter.h"

#include <cmath>

namespace attnlab {

void Meter::add(const Meter& other) {
  loss += other.loss;
  nll += other.nll;
  correct += other.correct;
  tokens += other.tokens;
  rows += other.rows;
  sentences += other.sentences;
  seconds += other.seconds;
}

Record Meter::metrics() const {
  const double n = static_cast<double>(tokens);  // 0/0 is the NaN that is promised
  return {{"loss", loss / n},
          {"nll", nll / n},
          {"perplexity", std::exp(nll / n)},
          {"accuracy", static_cast<double>(correct) / n}};
}

double Meter::tokens_per_second() const { return seconds > 0 ? static_cast<double>(rows) / seconds : 0; }

}  // namespace attnlab
