/// The SQL of a CREATE TABLE statement in the schema, whose constraints can be edited.
///
/// `ALTER TABLE` can't change constraints.
package struct TableText {
  /// The SQL of the statement with all edits.
  package private(set) var sql: String

  package init(_ sql: String) {
    self.sql = sql
  }

  /// Makes a column reject or accept NULL.
  ///
  /// - Parameters:
  ///   - column: The name of the column.
  ///   - isNotNull: Whether the column rejects NULL.
  /// - Returns: False if the column does not exist.
  package mutating func setNotNull(_ column: String, _ isNotNull: Bool) -> Bool {
    guard let parts = entries().first(where: { $0.columnName == asciiLowercased(column) }),
      let last = parts.tokens.last
    else { return false }
    let index = parts.tokens.indices.first {
      parts.isWord("not", at: $0) && parts.isWord("null", at: $0 + 1)
    }
    if isNotNull {
      if index == nil { replace(last.range.upperBound..<last.range.upperBound, by: " NOT NULL") }
      return true
    }
    guard let index else { return true }
    // ON CONFLICT may follow, as part of the constraint.
    var end = index + 1
    if parts.isWord("on", at: end + 1), parts.isWord("conflict", at: end + 2) { end += 3 }
    end = min(end, parts.tokens.count - 1)
    // Remove the name of the constraint, too: it would become that of the next constraint.
    let start = parts.isWord("constraint", at: index - 2) ? index - 2 : index
    replace(parts.tokens[start].range.lowerBound..<parts.tokens[end].range.upperBound, by: "")
    return true
  }

  /// Changes the delete rule of a column's foreign key.
  ///
  /// - Parameters:
  ///   - column: The name of the column.
  ///   - rule: The new rule.
  /// - Returns: False if no foreign key consists of only this column.
  package mutating func setDeleteRule(_ column: String, _ rule: DeleteRule) -> Bool {
    let name = asciiLowercased(column)
    let found = entries().lazy.compactMap { parts -> (Entry, Int)? in
      guard parts.columnName == name || parts.foreignKey == name,
        let index = parts.tokens.indices.first(where: { parts.isWord("references", at: $0) })
      else { return nil }
      return (parts, index)
    }.first
    guard let (parts, start) = found else { return false }
    var index = parts.end(ofNameAt: start + 1)
    // The parentheses with the referenced columns are a single token.
    let insertion = parts.tokens[index].range.upperBound
    while true {
      if parts.isWord("match", at: index + 1) {
        index = parts.end(ofNameAt: index + 2)
      } else if parts.isWord("on", at: index + 1) {
        let isTwoWords = parts.isWord("set", at: index + 3) || parts.isWord("no", at: index + 3)
        let end = index + (isTwoWords ? 4 : 3)
        guard end < parts.tokens.count else { return false }
        if parts.isWord("delete", at: index + 2) {
          let action = parts.tokens[index + 3].range.lowerBound..<parts.tokens[end].range.upperBound
          replace(action, by: rule.rawValue)
          return true
        }
        index = end
      } else {
        replace(insertion..<insertion, by: " ON DELETE \(rule.rawValue)")
        return true
      }
    }
  }

  private mutating func replace(_ range: Range<Int>, by text: String) {
    var bytes = Array(sql.utf8)
    bytes.replaceSubrange(range, with: text.utf8)
    sql = String(decoding: bytes, as: UTF8.self)
  }
}

extension TableText {
  /// A word, or parentheses with their whole content.
  fileprivate struct Token {
    var range: Range<Int>
    /// The text in ASCII lower case, without the quotes of a name. For parentheses, their content.
    var name: String
    var isQuoted: Bool
    var isParenthesis: Bool
  }

  /// A column with its constraints, or a table constraint.
  fileprivate struct Entry {
    var tokens: [Token] = []

    func isWord(_ word: String, at index: Int) -> Bool {
      guard tokens.indices.contains(index) else { return false }
      return !tokens[index].isQuoted && !tokens[index].isParenthesis && tokens[index].name == word
    }

    /// The name of the column; nil for a table constraint.
    var columnName: String? {
      guard let first = tokens.first else { return nil }
      let constraints = ["constraint", "primary", "unique", "check", "foreign"]
      return first.isQuoted || !constraints.contains(first.name) ? first.name : nil
    }

    /// The text in the parentheses after FOREIGN KEY; nil if the entry isn't a FOREIGN KEY
    /// constraint. If the key has only one column, the text is the column's name.
    var foreignKey: String? {
      let index = isWord("constraint", at: 0) ? 2 : 0
      guard isWord("foreign", at: index), isWord("key", at: index + 1),
        tokens.indices.contains(index + 2), tokens[index + 2].isParenthesis
      else { return nil }
      return tokens[index + 2].name
    }

    /// Returns the index of the last token of the name that begins at `index`: the parentheses
    /// after the name if there are any, and otherwise the name itself.
    func end(ofNameAt index: Int) -> Int {
      let next = index + 1
      let end = tokens.indices.contains(next) && tokens[next].isParenthesis ? next : index
      return min(end, tokens.count - 1)
    }
  }

  /// Returns the columns and table constraints between the statement's outer parentheses.
  fileprivate func entries() -> [Entry] {
    var entries: [Entry] = []
    var entry = Entry()
    var depth = 0
    var scanner = SQLScanner(sql)
    while let word = scanner.nextWord() {
      if word.is("(") {
        depth += 1
        if depth == 2 {
          entry.tokens.append(
            Token(range: word.range, name: "", isQuoted: false, isParenthesis: true))
        }
      } else if word.is(")") {
        depth -= 1
        if depth == 0 { return entries + [entry] }
        if depth == 1, let last = entry.tokens.indices.last {
          entry.tokens[last].range = entry.tokens[last].range.lowerBound..<word.range.upperBound
        }
      } else if depth == 1, word.is(",") {
        entries.append(entry)
        entry = Entry()
      } else if depth == 1 {
        entry.tokens.append(
          Token(
            range: word.range, name: word.text, isQuoted: word.isQuoted, isParenthesis: false))
      } else if depth > 1, let last = entry.tokens.indices.last {
        // Parentheses are one token, and its name is their content.
        entry.tokens[last].name += word.text
      }
    }
    return entries
  }
}
