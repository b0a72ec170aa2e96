// SHA-256 (FIPS 180-4), for the identity of data sets and of cached vocabularies.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace attnlab {

class Sha256 {
 public:
  void add(std::string_view bytes);
  // The length, then the bytes: so that two fields cannot run into each other.
  void add_field(std::string_view bytes);
  // A field of the bytes of numbers.
  template <class Number>
  void add_numbers(const std::vector<Number>& numbers) {
    add_field({reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)});
  }
  std::string hex() const;  // 64 digits of all bytes so far

 private:
  void block(const unsigned char* bytes);
  std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, 64> rest_{};
  std::uint64_t size_ = 0;
};

std::string sha256_hex(std::string_view bytes);

}  // namespace attnlab
