// The scalar expressions of kernels.
#pragma once

#include <string_view>
#include <vector>

#include "vcode/kernel_scope.hpp"

namespace vcode {

/// Parses thunks without native recursion: open forms lie on a stack of their own. A local name
/// stands for a node, so that LET becomes sharing. Types are those that the operations table gives;
/// whether they fit is for the verifier (kernel_verifier.hpp). After a false result the error has
/// been reported and the reader stands at the token at fault.
class ThunkParser {
 public:
  explicit ThunkParser(KernelScope& scope) : scope_(scope), reader_(scope.reader()) {}

  /// ( index => { LET name = expression } expression { , expression } )
  bool thunk(Thunk& thunk);
  /// ( name { , name } => ... ), a function of a state with components of these types.
  bool of_state(const std::vector<Type>& types, Thunk& thunk);
  /// The same without parameters and parentheses.
  bool body(Thunk& thunk);

 private:
  enum class Form : std::uint8_t { Node, Let };
  struct Frame {
    Form form = Form::Node;
    ThunkNode node;  // of Form::Node: what is made when all arguments are there
    int needed = 0;
    int count = 0;
    Token name;               // of Form::Let
    std::uint32_t value = 0;  // of Form::Let: the last expression
    Span opening;
  };

  void begin(Thunk& thunk);
  bool opening();
  bool rest(Span opening);
  bool results();
  bool expression(std::uint32_t& result);
  bool operand(std::optional<std::uint32_t>& value);
  bool name_operand(std::optional<std::uint32_t>& value);
  bool form();
  bool operation(Frame& frame);
  bool feed(std::optional<std::uint32_t>& value);
  bool close(std::optional<std::uint32_t>& value);
  bool bind_local(const Token& name, std::uint32_t node);
  std::optional<Token> local_name();
  std::uint32_t add(ThunkNode node);
  std::uint32_t add_leaf(ThunkNode::Kind kind, Type type, std::uint32_t id = 0);

  KernelScope& scope_;
  TokenReader& reader_;
  Thunk* thunk_ = nullptr;
  std::vector<ThunkNode> nodes_;  // of the thunk
  std::vector<Frame> frames_;
  NameMap<std::uint32_t> locals_;  // views into the source
};

}  // namespace vcode
