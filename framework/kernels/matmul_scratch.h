// A buffer of the calling thread that grows and is reused. Internal to matmul.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace attnlab::kernels::detail {

class Scratch {
 public:
  // At least `bytes` bytes, aligned to 64; what was there before is lost.
  void* get(std::size_t bytes) {
    if (bytes > size_) {
      memory_.reset();
      size_ = bytes + bytes / 4;
      memory_.reset(static_cast<std::byte*>(::operator new (size_, std::align_val_t{64})));
    }
    return memory_.get();
  }
  template <class T>
  T* array(std::size_t count) {
    return static_cast<T*>(get(count * sizeof(T)));
  }

 private:
  struct Free {
    void operator()(std::byte* p) const { ::operator delete (p, std::align_val_t{64}); }
  };
  std::unique_ptr<std::byte, Free> memory_;
  std::size_t size_ = 0;
};

}  // namespace attnlab::kernels::detail
