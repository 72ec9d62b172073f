/// A check of the virtual tables of an untrusted schema. It runs before SQLite uses one of them,
/// because each of them runs a module of this process.
///
/// The check doesn't compare the name in a table's SQL with the name in its row of `sqlite_schema`,
/// because SQLite does that itself.
struct VirtualTableCheck {
  /// SQLite's modules for full-text search and R*Trees.
  static let ownModules: Set<String> = ["fts3", "fts4", "fts5", "rtree", "rtree_i32"]

  private static let tokenizers: Set<String> = [
    "simple", "porter", "unicode61", "ascii", "trigram",
  ]

  /// The lowercased names of the modules that virtual tables may use.
  let modules: Set<String>

  /// Throws if the SQL creates a virtual table with a module that isn't allowed, or a full-text
  /// table whose tokenizer is unknown or lacks an argument.
  func check(_ name: String, sql: String) throws(SQLiteError) {
    func refused(_ reason: String) -> SQLiteError {
      SQLiteError(.corrupt, "“\(name)” is not allowed in the schema: \(reason)")
    }
    let words = SQLScanner.words(sql).drop { $0.is(";") }
    guard words.count > 1, words.first?.is("create") == true,
      words.dropFirst().first?.is("virtual") == true
    else { return }
    guard let module = VirtualTableCheck.module(words.drop { !$0.is("using") }.dropFirst()) else {
      throw refused("its SQL cannot be parsed")
    }
    guard modules.contains(module.name) else {
      throw refused("the module \(module.name) is not in allowedModules")
    }
    guard module.name.utf8.starts(with: "fts".utf8) else { return }
    for argument in module.arguments {
      guard VirtualTableCheck.hasKnownTokenizer(argument) else {
        throw refused("its tokenizer is unknown, or an argument is missing")
      }
    }
  }

  /// Returns whether an argument of a full-text table names no tokenizer, or one of SQLite's
  /// tokenizers with valid options.
  private static func hasKnownTokenizer(_ argument: [String]) -> Bool {
    guard argument.first == "tokenize" else { return true }
    let values = argument.dropFirst(argument.dropFirst().first == "=" ? 2 : 1)
    // FTS5 accepts the tokenizer and its options as one text, FTS4 as separate words.
    var words = values.flatMap { value in
      value.split { $0 == " " || $0 == "\t" || $0 == "\n" || $0 == "\r" }.map { word in
        String(word.drop { $0 == "'" || $0 == "\"" }.prefix { $0 != "'" && $0 != "\"" })
      }
    }[...]
    if words.first == "porter", words.count > 1 { words = words.dropFirst() }
    guard let tokenizer = words.popFirst(), tokenizers.contains(tokenizer) else { return false }
    // Before SQLite 3.47, the tokenizer reads beyond its arguments if an option has no value.
    return tokenizer != "trigram" || words.count % 2 == 0
  }
  /// Returns the lowercased name of a virtual table's module and the words of each argument; nil if
  /// the SQL can't be parsed.
  ///
  /// - Parameter words: The words after USING.
  private static func module(
    _ words: ArraySlice<SQLScanner.Word>
  ) -> (name: String, arguments: [[String]])? {
    var words = words
    guard let module = words.popFirst(), module.token == .word || module.isQuoted else {
      return nil
    }
    var arguments: [[String]] = [[]]
    if words.first?.is("(") == true {
      var depth = 0
      repeat {
        guard let word = words.popFirst() else { return nil }
        if word.is("(") {
          depth += 1
        } else if word.is(")") {
          depth -= 1
        } else if depth == 1, word.is(",") {
          arguments.append([])
        } else {
          arguments[arguments.count - 1].append(word.text)
        }
      } while depth > 0
    }
    return words.allSatisfy { $0.is(";") } ? (module.text, arguments) : nil
  }
}
