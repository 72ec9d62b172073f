/// How a tree is printed.
public enum SQLStyle: Hashable, Sendable {
  /// On one line.
  case compact
  /// One clause a line, queries in parentheses indented by two blanks.
  case indented
}
