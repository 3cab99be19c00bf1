// A grammar in EBNF as the reference of the language writes it: recognises and makes up sentences.
#pragma once

#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace neslc::testing {

class Grammar {
 public:
  /// `name = alternatives ;` rules with { }, [ ], ( ), "quoted" words and (* comments *). The first
  /// rule is the start. Names without a rule are classes of tokens.
  explicit Grammar(const std::string& ebnf);

  /// What stands at a place of a sentence: matches a quoted word, or a class of tokens.
  struct Word {
    std::string text;
    std::string token_class;
  };

  /// Can the words be derived from the rule?
  bool derives(const std::string& rule, const std::vector<Word>& words) const;

  /// A sentence of the rule: quoted words, and names of classes of tokens in angle brackets. Of
  /// deep derivations it takes the shortest alternatives.
  std::vector<std::string> sentence(const std::string& rule, std::mt19937& random) const;

  const std::set<std::string>& quoted() const { return quoted_; }
  const std::set<std::string>& token_classes() const { return classes_; }
  /// The quoted words of a rule that only lists them.
  std::set<std::string> words_of(const std::string& rule) const;

 private:
  struct Symbol {
    bool quoted = false;
    std::string text;  // a rule or class of tokens, or the word
  };
  using Alternative = std::vector<Symbol>;

  class Reader;
  void expand(const Symbol& symbol, int depth, std::mt19937& random,
              std::vector<std::string>& sentence) const;
  void find_shortest();

  std::map<std::string, std::vector<Alternative>> rules_;  // also of { }, [ ] and ( )
  std::map<std::string, int> height_;                      // of the lowest derivation
  std::set<std::string> quoted_;
  std::set<std::string> classes_;
};

}  // namespace neslc::testing
