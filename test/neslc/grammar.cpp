#include "grammar.hpp"

#include <algorithm>
#include <cctype>
#include <tuple>

#include <catch2/catch.hpp>

namespace neslc::testing {

/// Reads EBNF into rules without { }, [ ] and ( ): these become rules of their own.
class Grammar::Reader {
 public:
  Reader(Grammar& grammar, const std::string& text) : grammar_(grammar) {
    for (std::size_t at = 0; at < text.size();) {
      const auto c = static_cast<unsigned char>(text[at]);
      if (text.compare(at, 2, "(*") == 0) {
        at = text.find("*)", at) + 2;
      } else if (std::isspace(c) != 0) {
        ++at;
      } else {
        std::size_t end = at + 1;
        if (c == '"') {
          end = text.find('"', at + 1) + 1;
        } else if (std::isalpha(c) != 0) {
          while (std::isalpha(static_cast<unsigned char>(text[end])) != 0 || text[end] == '-')
            ++end;
        }
        tokens_.push_back(text.substr(at, end - at));
        at = end;
      }
    }
  }

  void rules() {
    while (at_ < tokens_.size()) {
      name_ = take();
      made_ = 0;
      REQUIRE(take() == "=");
      auto alternatives = choice();
      REQUIRE(take() == ";");
      CHECK(grammar_.rules_.emplace(name_, std::move(alternatives)).second);
    }
  }

 private:
  std::string take() {
    REQUIRE(at_ < tokens_.size());
    return tokens_[at_++];
  }
  bool at(const char* token) const { return at_ < tokens_.size() && tokens_[at_] == token; }

  std::vector<Alternative> choice() {
    std::vector<Alternative> alternatives = {sequence()};
    while (at("|")) {
      take();
      alternatives.push_back(sequence());
    }
    return alternatives;
  }

  Alternative sequence() {
    Alternative symbols;
    while (!at("|") && !at(";") && !at("}") && !at("]") && !at(")")) {
      const std::string token = take();
      if (token == "{" || token == "[" || token == "(") {
        symbols.push_back(group(token));
      } else if (token.front() == '"') {
        symbols.push_back({true, token.substr(1, token.size() - 2)});
        grammar_.quoted_.insert(symbols.back().text);
      } else {
        symbols.push_back({false, token});
      }
    }
    return symbols;
  }

  Symbol group(const std::string& open) {
    const std::string name = name_ + "." + std::to_string(++made_);
    std::vector<Alternative> alternatives = choice();
    take();
    if (open == "{") {
      for (Alternative& alternative : alternatives) alternative.push_back({false, name});
    }
    if (open != "(") alternatives.emplace_back();
    grammar_.rules_.emplace(name, std::move(alternatives));
    return {false, name};
  }

  Grammar& grammar_;
  std::vector<std::string> tokens_;
  std::size_t at_ = 0;
  std::string name_;
  int made_ = 0;
};

Grammar::Grammar(const std::string& ebnf) {
  Reader(*this, ebnf).rules();
  for (const auto& [name, alternatives] : rules_) {
    for (const Alternative& alternative : alternatives) {
      for (const Symbol& symbol : alternative) {
        if (!symbol.quoted && !rules_.contains(symbol.text)) classes_.insert(symbol.text);
      }
    }
  }
  find_shortest();
}

void Grammar::find_shortest() {
  constexpr int kUnknown = 1000;
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& [name, alternatives] : rules_) {
      int least = kUnknown;
      for (const Alternative& alternative : alternatives) {
        int height = 0;
        for (const Symbol& symbol : alternative) {
          if (symbol.quoted || classes_.contains(symbol.text)) continue;
          const auto known = height_.find(symbol.text);
          height = std::max(height, known == height_.end() ? kUnknown : known->second);
        }
        least = std::min(least, height + 1);
      }
      if (least < kUnknown && (!height_.contains(name) || height_[name] > least)) {
        height_[name] = least;
        changed = true;
      }
    }
  }
  CHECK(height_.size() == rules_.size());
}

// Earley's algorithm.
bool Grammar::derives(const std::string& rule, const std::vector<Word>& words) const {
  struct Item {
    const std::string* rule;
    const Alternative* alternative;
    std::size_t dot;
    std::size_t begin;
    auto operator<=>(const Item&) const = default;
  };
  std::vector<std::vector<Item>> items(words.size() + 1);
  std::vector<std::set<Item>> known(words.size() + 1);
  const auto add = [&](std::size_t at, const Item& item) {
    if (known[at].insert(item).second) items[at].push_back(item);
  };
  const auto predict = [&](std::size_t at, const std::string& name) {
    const auto found = rules_.find(name);
    for (const Alternative& alternative : found->second)
      add(at, {&found->first, &alternative, 0, at});
  };
  const auto matches = [](const Symbol& symbol, const Word& word) {
    return symbol.text == (symbol.quoted ? word.text : word.token_class);
  };
  predict(0, rule);
  for (std::size_t at = 0; at <= words.size(); ++at) {
    for (std::size_t i = 0; i < items[at].size(); ++i) {
      const Item item = items[at][i];
      if (item.dot == item.alternative->size()) {
        // Completed; what waits for it may come later only if it began here, see below.
        for (std::size_t j = 0; j < items[item.begin].size(); ++j) {
          Item waiting = items[item.begin][j];
          if (waiting.dot == waiting.alternative->size()) continue;
          const Symbol& next = (*waiting.alternative)[waiting.dot];
          if (next.quoted || next.text != *item.rule) continue;
          ++waiting.dot;
          add(at, waiting);
        }
        continue;
      }
      const Symbol& next = (*item.alternative)[item.dot];
      if (!next.quoted && rules_.contains(next.text)) {
        predict(at, next.text);
        // An empty derivation that is complete already.
        const bool empty = std::any_of(known[at].begin(), known[at].end(), [&](const Item& done) {
          return done.begin == at && *done.rule == next.text &&
                 done.dot == done.alternative->size();
        });
        if (empty) add(at, {item.rule, item.alternative, item.dot + 1, item.begin});
      } else if (at < words.size() && matches(next, words[at])) {
        add(at + 1, {item.rule, item.alternative, item.dot + 1, item.begin});
      }
    }
  }
  return std::any_of(items.back().begin(), items.back().end(), [&](const Item& item) {
    return item.begin == 0 && *item.rule == rule && item.dot == item.alternative->size();
  });
}

std::vector<std::string> Grammar::sentence(const std::string& rule, std::mt19937& random) const {
  std::vector<std::string> result;
  expand({false, rule}, 0, random, result);
  return result;
}

void Grammar::expand(const Symbol& symbol, int depth, std::mt19937& random,
                     std::vector<std::string>& sentence) const {
  constexpr int kDeep = 16;
  if (symbol.quoted) return sentence.push_back(symbol.text);
  const auto found = rules_.find(symbol.text);
  if (found == rules_.end()) return sentence.push_back("<" + symbol.text + ">");
  const auto height = [&](const Alternative& alternative) {
    int result = 0;
    for (const Symbol& s : alternative) {
      if (const auto known = height_.find(s.text); !s.quoted && known != height_.end()) {
        result = std::max(result, known->second);
      }
    }
    return result;
  };
  std::vector<const Alternative*> choices;
  for (const Alternative& alternative : found->second) {
    if (depth < kDeep || height(alternative) < height_.at(symbol.text)) {
      choices.push_back(&alternative);
    }
  }
  for (const Symbol& part : *choices[random() % choices.size()]) {
    expand(part, depth + 1, random, sentence);
  }
}

std::set<std::string> Grammar::words_of(const std::string& rule) const {
  std::set<std::string> words;
  for (const Alternative& alternative : rules_.at(rule)) {
    REQUIRE(alternative.size() == 1);
    CHECK(alternative[0].quoted);
    words.insert(alternative[0].text);
  }
  return words;
}

}  // namespace neslc::testing
