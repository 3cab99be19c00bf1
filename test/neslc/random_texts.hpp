// What writers of random programs have in common.
#pragma once

#include <initializer_list>
#include <random>
#include <string>

namespace neslc::testing {

class RandomTexts {
 protected:
  explicit RandomTexts(unsigned seed) : random_(seed) {}

  int below(int count) { return std::uniform_int_distribution(0, count - 1)(random_); }
  std::string one_of(std::initializer_list<const char*> texts) {
    return texts.begin()[below(static_cast<int>(texts.size()))];
  }

 private:
  std::mt19937 random_;
};

}  // namespace neslc::testing
