import Foundation
import Testing

/// Every message of our own errors is listed in `Tests/ErrorMessages.txt`, where all of them can be read in one place.
///
///     MAGICDATA_WRITE=1 swift test --filter ErrorMessageTests   # renews the list
@Suite struct ErrorMessageTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
  private static let listURL = root.appending(path: "Tests/ErrorMessages.txt")

  /// The Swift files of `Sources`, without the code of articles.
  private static let files: [(path: String, source: String)] = {
    let folder = root.appending(path: "Sources").path
    let paths = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
    return paths.filter { $0.hasSuffix(".swift") && !$0.contains(".docc/") }.sorted().map { path in
      let data = FileManager.default.contents(atPath: "\(folder)/\(path)") ?? Data()
      return ("Sources/\(path)", String(decoding: data, as: UTF8.self))
    }
  }()

  private static let list = ErrorMessageList(
    files,
    // These have no text, since their module catches them, or turns them into another error.
    signals: [
      "Abandoned", "Answer", "DryRunResult", "Enough", "Found", "Interrupted", "NestingSignal",
      "NotEnoughError", "Outdated", "ParsingFailure", "Refusal", "Released", "SystemFailure",
      "Undone", "UnknownTables",
    ],
    forwarding: ["naming", "note"])

  /// How the calls without a message begin.
  private static let forwardings = [
    // The descriptions of these types have a text for each case.
    "SQLiteHistory: PatchError(", "SQLiteMapping: UnknownColumn(", "Terminal: OutputError(",
    // The checks of this example pass their message.
    "Service: WrongResult(description: message())",
    // This closure receives the messages of TablePlan.
    "SQLiteObjects: MagicError.unsuitableType(type: \"\\(type)\", reason: $0)",
  ]

  @Test func `the list contains every message`() throws {
    let list = Self.list
    if ProcessInfo.processInfo.environment["MAGICDATA_WRITE"] != nil {
      try Data(list.text.utf8).write(to: Self.listURL)
    }
    let listed = ErrorMessageList.entries(in: try String(contentsOf: Self.listURL, encoding: .utf8))
    let found = ErrorMessageList.entries(in: list.text)
    let advice: Comment =
      "Read the messages, then renew Tests/ErrorMessages.txt: MAGICDATA_WRITE=1 swift test --filter ErrorMessageTests"
    #expect(found.subtracting(listed).sorted() == [], advice)
    #expect(listed.subtracting(found).sorted() == [], advice)
  }

  @Test func `every call of an error type has a message`() {
    let list = Self.list
    #expect(list.callCount > 550)
    let others = list.silent.filter { call in !Self.forwardings.contains { call.hasPrefix($0) } }
    #expect(others == [], "Give these a message, or add a type without any to `signals`")
    for forwarding in Self.forwardings {
      #expect(list.silent.contains { $0.hasPrefix(forwarding) }, "\(forwarding) is gone")
    }
  }

  @Test func `the source is understood`() {
    for file in Self.files {
      let tokens = SwiftLexer.tokens(of: file.source).filter { $0.kind == .symbol }
      for (open, close) in [("(", ")"), ("[", "]"), ("{", "}")] {
        let depth = tokens.reduce(0) { $0 + ($1.text == open ? 1 : $1.text == close ? -1 : 0) }
        #expect(depth == 0, "\(file.path): \(open)\(close)")
      }
    }
  }

  @Test func `messages follow the conventions`() throws {
    for (path, messages) in Self.list.messages.sorted(by: { $0.key < $1.key }) {
      for message in messages.sorted() {
        if let fault = Self.fault(in: message, of: path) {
          Issue.record("\(path): \(fault): \(message)")
        }
      }
    }
  }

  @Test(arguments: [
    ("The table is missing", "begins with a capital"),
    ("the table is missing.", "ends in a period"),
    ("the value \\(value) is too large", "contains a value"), ("  ", "is empty"),
    ("the table is not there", "is not plain English"),
    ("it leads to a pet", "is not plain English"),
  ])
  func `a message that breaks a convention is found`(message: String, fault: String) {
    #expect(Self.fault(in: message, of: "Sources/SQLiteCore/A.swift") == fault)
  }

  /// Words that our messages once used instead of the field's terms.
  private static let dialect = #"""
    anew|any ?more|at the least|behind|besides?|by name|comes? twice|for ever|gone|goes|in the midst|is due|\#
    is no (?!longer)|leads? (here|nowhere|out|to)|lent|lends?|made up|meanwhile|nobody|\#
    not there|not understood|of its own|refuses?d?|somebody|stands?|tells?|there already|told|too soon|whoever
    """#

  /// Returns how a message breaks the conventions, or nil.
  ///
  /// A message begins in lower case and does not end in a period, as those of SQLite. A colon precedes the reason, and a semicolon
  /// precedes what to do. Messages name types, properties, tables, columns and files, but contain no values.
  private static func fault(in message: String, of path: String) -> String? {
    let plain = ErrorMessageList.withoutInterpolations(message)
    guard plain.contains(where: { !$0.isWhitespace }) else { return "is empty" }
    // SQLite's own messages, which SQLSyntax repeats.
    if path.hasPrefix("Sources/Text/SQLSyntax/") { return nil }
    let first = plain.split(separator: " ")[0]
    if first.first?.isUppercase == true, !first.dropFirst().contains(where: \.isUppercase) {
      return "begins with a capital"
    }
    if plain.hasSuffix(".") || plain.hasSuffix("!") { return "ends in a period" }
    if let pattern = try? Regex("(?i)\\b(\(dialect))\\b"),
      plain.replacing("there is no", with: "").contains(pattern)
    {
      return "is not plain English"
    }
    // The decoder of SPON quotes the text that it cannot read, as parsers do.
    let values =
      #/\\\((value|values|integer|real|blob|bytes|date|seconds|duration|self|databaseValue|primary)\)/#
    if !path.hasPrefix("Sources/Text/SPON/"),
      message.replacing("of type \\(value)", with: "").contains(values)
    {
      return "contains a value"
    }
    return nil
  }

  @Test func `messages are found in all forms of calls`() {
    let source = ##"""
      struct LoadError: Error {
        let message: String
        init(_ code: Int, _ message: String) { self.message = message }
        var description: String { "cannot load: \(message)" }
      }
      extension LoadError {
        static let late = LoadError(1, "too late")
        static let hint = "try again"
      }
      func refuse(_ reason: String) -> LoadError { LoadError(2, "refused: \(reason)") }
      func check(_ what: String) throws { throw LoadError(3, what) }
      struct Reader {
        var path: String { "a path that is no message" }
        var text: String { isLong ? "a long text" : "a short text" }
        func read(_ name: String) throws {
          // throw LoadError(4, "a comment")
          throw LoadError(5, "the file \(name.map { "“\($0)”" } ?? "none") "
            + "is " + name + " damaged")
          throw refuse(name.isEmpty ? "no name" : #"a "raw" name"#)
          try check("an argument")
          var obstacles = ["a first obstacle"]
          obstacles.append("a second obstacle")
          throw LoadError(6, obstacles.joined(separator: " and then "))
          throw LoadError(7, """
            several \
            lines
            """)
          throw LoadError(8, LoadError.hint)
          throw LoadError(9, text)
          throw LoadError(10)
          fatalError("a mistake of the program")
        }
      }
      """##
    let list = ErrorMessageList([("Sources/SQLiteCore/Load.swift", source)])
    #expect(
      list.messages["Sources/SQLiteCore/Load.swift"] == [
        "cannot load: \\(message)", "too late", "refused: \\(reason)", "no name", "a \"raw\" name",
        "an argument", "the file \\(name.map { \"“\\($0)”\" } ?? \"none\") is \\(name) damaged",
        "a first obstacle", "a second obstacle", "several lines", "try again", "a long text",
        "a short text", "a mistake of the program",
      ])
    #expect(list.silent == ["SQLiteCore: LoadError(10)"])
    #expect(ErrorMessageList.entries(in: list.text).count == 14)
  }
}
