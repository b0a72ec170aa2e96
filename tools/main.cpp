#include <cstdio>

int main() {
  std::puts("attnlab 0.1.0");
  return 0;
}
