/// The messages of our own errors, which are found in the source: the literals in calls of error types, in calls of
/// functions that return errors or forward a message to them, and in the descriptions of error types.
struct ErrorMessageList {
  /// A file of Swift source and its tokens.
  struct File {
    let path: String
    let tokens: [SwiftToken]
  }

  /// A function, an initializer, a property or an enumeration case that is declared in a file.
  private struct Declaration {
    let name: String
    let file: Int
    /// The names of the parameters, as the body uses them.
    let parameters: Set<String>
    /// The tokens of the declared type or result.
    let result: [String]
    /// The positions of the tokens of its body or of its initial value.
    let body: Range<Int>
    let isType: Bool
    let isFunction: Bool
  }

  /// The messages by path.
  private(set) var messages: [String: Set<String>] = [:]
  /// The calls of error types without a literal and without a message that could be traced, after the name of their module.
  private(set) var silent: [String] = []
  /// The number of calls of error types.
  private(set) var callCount = 0

  private let files: [File]
  private var declarations: [[Declaration]] = []
  private var byName: [String: [(file: Int, index: Int)]] = [:]
  private var errorTypes: Set<String> = [
    "DecodingError", "EncodingError", "Context", "PatchConflict", "SchemaDifference",
  ]
  /// The names of functions and properties whose calls are searched for messages.
  private var makers: Set<String>
  /// The functions of a module that pass a parameter on as a message or a part of one.
  private var forwarders: [String: Set<String>] = [:]
  private let forwarding: Set<String>
  /// The types whose description has a text for each value.
  private var describing: Set<String> = []
  /// The cases of error types, and their types.
  private var errorCases = [
    "typeMismatch": "DecodingError", "valueNotFound": "DecodingError",
    "keyNotFound": "DecodingError",
    "dataCorrupted": "DecodingError", "invalidValue": "EncodingError",
  ]
  /// The places that were traced.
  private var places: Set<Place> = []
  private var isComplete = true
  private var module: [String] = []

  private struct Place: Hashable {
    let file: Int
    let start: Int
  }

  /// Lists the messages in files of source.
  ///
  /// - Parameters:
  ///   - files: The paths and texts of the files.
  ///   - signals: The types of errors that have no text: they never leave the module that throws them.
  ///   - forwarding: The functions that insert an argument in a message of another module.
  init(
    _ files: [(path: String, source: String)], signals: Set<String> = [],
    forwarding: Set<String> = []
  ) {
    self.files = files.map { File(path: $0.path, tokens: SwiftLexer.tokens(of: $0.source)) }
    module = self.files.map { Self.module(of: $0.path) }
    makers = ["fatalError", "precondition", "preconditionFailure"]
    self.forwarding = forwarding
    for file in self.files.indices { declare(file) }
    errorTypes.subtract(signals)
    findMakers()
    for file in self.files.indices { findCases(in: file) }
    for file in self.files.indices { addDescriptions(in: file) }
    repeat {
      isComplete = true
      callCount = 0
      silent = []
      for file in self.files.indices { addCalls(in: file) }
    } while !isComplete
  }

  /// The folder of a module, such as `Sources/Text/SPON`.
  static func module(of path: String) -> String {
    let parts = path.split(separator: "/")
    let isGroup = ["Cluster", "Examples", "History", "Support", "Testing", "Text", "Tools"]
      .contains(parts[1])
    return parts.prefix(isGroup ? 3 : 2).joined(separator: "/")
  }

  /// Finds the cases of error types, which are also thrown without the type's name.
  private mutating func findCases(in file: Int) {
    let tokens = files[file].tokens
    for type in declarations[file] where type.isType && errorTypes.contains(type.name) {
      for index in type.body
      where tokens[index].text == "case" && tokens[index].startsLine
        && tokens[index + 1].kind == .word
      {
        errorCases[tokens[index + 1].text] = type.name
      }
    }
  }

  // MARK: - Declarations

  private mutating func declare(_ file: Int) {
    let tokens = files[file].tokens
    var found: [Declaration] = []
    for index in tokens.indices where tokens[index].kind == .word {
      guard index + 1 < tokens.count else { continue }
      let name = tokens[index + 1].text
      switch tokens[index].text {
      case "struct", "enum", "class", "extension", "protocol", "actor":
        guard tokens[index + 1].kind == .word, let open = position(of: "{", after: index, tokens)
        else { continue }
        let header = tokens[index + 2..<open].map(\.text)
        // A nested type is extended as `Outer.Inner`.
        let last = tokens[index + 1..<open].prefix { $0.text != ":" && $0.text != "where" }
          .last { $0.kind == .word }
        if let colon = header.firstIndex(of: ":"), tokens[index].text != "protocol",
          header[colon...].contains(where: { $0 == "Error" || $0 == "LocalizedError" })
        {
          errorTypes.insert(last?.text ?? name)
        }
        found.append(
          Declaration(
            name: last?.text ?? name, file: file, parameters: [], result: [],
            body: open..<end(of: open, tokens), isType: true, isFunction: false))
      case "func", "init", "subscript":
        if tokens[index].text == "init", index > 0, [".", "("].contains(tokens[index - 1].text) {
          continue
        }
        var open = index + 1
        while open < tokens.count, tokens[open].text != "(" { open += 1 }
        guard open < tokens.count, open < index + 40 else { continue }
        let close = end(of: open, tokens)
        var parameters: Set<String> = []
        for position in open..<close where tokens[position].text == ":" {
          let isText = tokens[position + 1..<close].prefix(2).contains {
            ["String", "StaticString", "Substring"].contains($0.text)
          }
          if isText, tokens[position - 1].kind == .word,
            !Self.namingParameters.contains(tokens[position - 1].text)
          {
            parameters.insert(tokens[position - 1].text)
          }
        }
        var result: [String] = []
        var position = close
        while position < tokens.count, tokens[position].text != "{" {
          if tokens[position].startsLine,
            tokens[position].kind == .word || tokens[position].text == "@",
            !["throws", "async", "rethrows", "where"].contains(tokens[position].text)
          {
            break
          }
          if tokens[position].text == "}" { break }
          result.append(tokens[position].text)
          position += 1
        }
        let arrow = result.firstIndex(of: "->").map { Array(result[($0 + 1)...]) } ?? []
        let body =
          position < tokens.count && tokens[position].text == "{"
          ? position..<end(of: position, tokens) : position..<position
        found.append(
          Declaration(
            name: tokens[index].text == "func" ? name : "init", file: file, parameters: parameters,
            result: arrow, body: body, isType: false, isFunction: true))
      case "let", "var":
        guard tokens[index + 1].kind == .word else { continue }
        var result: [String] = []
        var position = index + 2
        if position < tokens.count, tokens[position].text == ":" {
          position += 1
          while position < tokens.count,
            !["=", "{", "}", ")", ","].contains(tokens[position].text),
            !tokens[position].startsLine
          {
            if ["(", "["].contains(tokens[position].text) {
              let end = end(of: position, tokens)
              result += tokens[position..<end].map(\.text)
              position = end
              continue
            }
            result.append(tokens[position].text)
            position += 1
          }
        }
        guard position < tokens.count else { continue }
        var body = position..<position
        if tokens[position].text == "=" {
          body = position + 1..<endOfExpression(position + 1, tokens)
        } else if tokens[position].text == "{" {
          body = position..<end(of: position, tokens)
        }
        found.append(
          Declaration(
            name: name, file: file, parameters: [], result: result, body: body, isType: false,
            isFunction: false))
      default: continue
      }
    }
    declarations.append(found)
    for (index, declaration) in found.enumerated() {
      byName[declaration.name, default: []].append((file, index))
    }
  }

  private func position(of text: String, after start: Int, _ tokens: [SwiftToken]) -> Int? {
    var index = start
    while index < tokens.count, index < start + 200 {
      if tokens[index].text == text, tokens[index].kind == .symbol { return index }
      index += 1
    }
    return nil
  }

  /// The position after the bracket that closes the one at `open`.
  private func end(of open: Int, _ tokens: [SwiftToken]) -> Int {
    var depth = 0
    var index = open
    while index < tokens.count {
      if tokens[index].kind == .symbol {
        switch tokens[index].text {
        case "(", "[", "{": depth += 1
        case ")", "]", "}":
          depth -= 1
          if depth == 0 { return index + 1 }
        default: break
        }
      }
      index += 1
    }
    return tokens.count
  }

  private static let continuations: Set<String> = [
    ".", "+", "?", ":", "??", "&&", "||", "-", "*", "==", "!=", "=", "->",
  ]

  /// The position after the expression that begins at `start`: before a comma, a closing bracket, `else` or a line that
  /// does not continue it.
  private func endOfExpression(_ start: Int, _ tokens: [SwiftToken]) -> Int {
    var index = start
    while index < tokens.count {
      let token = tokens[index]
      if index > start, token.startsLine, !Self.continuations.contains(token.text),
        !Self.continuations.contains(tokens[index - 1].text)
      {
        return index
      }
      if token.kind == .word, token.text == "else", tokens[index - 1].text != "}" { return index }
      if token.kind == .symbol {
        switch token.text {
        case "(", "[", "{":
          index = end(of: index, tokens)
          continue
        case ")", "]", "}", ",", ";": return index
        default: break
        }
      }
      index += 1
    }
    return index
  }

  /// Parameters that name something, or contain SQL, and are no part of a message's words.
  private static let namingParameters: Set<String> = [
    "address", "column", "database", "file", "folder", "key", "name", "option", "path", "property",
    "sql", "table",
    "type", "typeName",
  ]

  // MARK: - Makers

  /// Finds the functions that return errors.
  private mutating func findMakers() {
    for declaration in declarations.joined() where !declaration.isType {
      let words = declaration.result.filter { !["any", "?", ")", "("].contains($0) }
      guard let last = words.first, words.count == 1 else { continue }
      if errorTypes.contains(last) || declaration.isFunction && ["Error", "Never"].contains(last) {
        makers.insert(declaration.name)
      }
    }
    makers.subtract(["init", "error", "with", "failure", "run", "join", "first"])
  }

  // MARK: - Calls

  private static let declaring: Set<String> = [
    "func", "enum", "struct", "case", "is", "as", "extension", "class", "let", "var", "protocol",
  ]

  private mutating func addCalls(in file: Int) {
    let tokens = files[file].tokens
    for index in tokens.indices where tokens[index].kind == .word {
      guard index + 1 < tokens.count, index == 0 || !Self.declaring.contains(tokens[index - 1].text)
      else { continue }
      let name = tokens[index].text
      var open = index + 1
      var type: String?
      if errorTypes.contains(name) {
        type = name
        if tokens[open].text == ".", open + 2 < tokens.count { open += 2 }
      } else if errorCases[name] != nil, index > 1, tokens[index - 1].text == ".",
        isThrown(index - 2, file)
      {
        // A case without its type: `throw .closed(path: path)`.
        type = errorCases[name]
      } else if !makers.contains(name), !forwards(name, file) {
        continue
      }
      guard tokens[open].text == "(" else { continue }
      let close = end(of: open, tokens)
      let call = open + 1..<close - 1
      if call.contains(where: { tokens[$0].text == "let" && tokens[$0 - 1].text != "if" }) {
        continue
      }
      let isForwarder = type == nil && !makers.contains(name)
      let found = literals(call, file, areFragments: isForwarder)
      messages[files[file].path, default: []].formUnion(found)
      let isMade = type != nil && makers.contains(tokens[open - 1].text)
      let traced = trace(call, file) || isMade
      guard let type else { continue }
      callCount += 1
      let hasReason = call.contains {
        tokens[$0 + 1].text == ":" && Self.reasonLabels.contains(tokens[$0].text)
      }
      let isDescribed = describing.contains(type) && !hasReason
      let isCode =
        type == "SQLiteError"
        && !call.contains { tokens[$0].text == "," && tokens[$0 + 1].text != "sql" }
      if found.isEmpty, !traced, !isDescribed, !isCode {
        let name = module[file].split(separator: "/").last ?? ""
        silent.append("\(name): \(source(index..<close, tokens))")
      }
    }
  }

  private func forwards(_ name: String, _ file: Int) -> Bool {
    forwarding.contains(name) || forwarders[module[file]]?.contains(name) == true
  }

  private static let reasonLabels: Set<String> = ["reason", "message", "problem", "difference"]

  /// Whether the token before a case says that the case is an error: `throw`, or `return` in a function that returns one.
  private func isThrown(_ index: Int, _ file: Int) -> Bool {
    let tokens = files[file].tokens
    if tokens[index].text == "throw" { return true }
    guard ["return", "{", ":", "?", "="].contains(tokens[index].text) else { return false }
    guard let function = functions(around: index, file).last,
      let last = function.result.last(where: { !["?", ")", "("].contains($0) })
    else { return false }
    return errorTypes.contains(last)
  }

  /// The functions and computed properties whose bodies contain a token, the innermost last.
  private func functions(around index: Int, _ file: Int) -> [Declaration] {
    declarations[file].filter { !$0.isType && $0.body.contains(index) }
  }

  // MARK: - Tracing

  /// Looks for the messages in what a call names: local variables, properties and functions of the module that are texts,
  /// and parameters of the enclosing function, whose calls are then searched too.
  ///
  /// - Returns: Whether the call names the text of another error, or anything that was traced.
  private mutating func trace(_ range: Range<Int>, _ file: Int) -> Bool {
    let tokens = files[file].tokens
    var isTraced = false
    var index = range.lowerBound
    while index < range.upperBound {
      let token = tokens[index]
      if isOtherLabel(index, range, tokens) {
        index = endOfExpression(index + 2, tokens)
        continue
      }
      if token.kind == .string {
        for part in Self.interpolations(in: token.text) {
          let words = SwiftLexer.tokens(of: part)
          for position in words.indices where words[position].kind == .word {
            if trace(
              words[position].text, isMember: position > 0 && words[position - 1].text == ".",
              at: index, file)
            {
              isTraced = true
            }
          }
        }
      } else if token.kind == .word, index + 1 == range.upperBound || tokens[index + 1].text != ":"
      {
        if trace(
          token.text, isMember: index > range.lowerBound && tokens[index - 1].text == ".",
          at: index, file)
        {
          isTraced = true
        }
      }
      index += 1
    }
    return isTraced
  }

  private mutating func trace(_ name: String, isMember: Bool, at index: Int, _ file: Int) -> Bool {
    let around = functions(around: index, file)
    if Self.namingParameters.contains(name) { return false }
    var isTraced = false
    if !isMember, let function = around.last(where: { $0.parameters.contains(name) }) {
      if function.name != "init",
        forwarders[module[file], default: []].insert(function.name).inserted
      {
        isComplete = false
      }
      isTraced = true
    }
    if name == "rawValue", let type = types(around: index, file).last {
      addRawValues(of: type, file)
    }
    // The text of another error, or of the system.
    if isMember && name == "message" || ["error", "systemMessage", "sqlite3_errmsg"].contains(name)
    {
      return true
    }
    for (other, position) in byName[name] ?? [] where module[other] == module[file] {
      let declaration = declarations[other][position]
      guard !declaration.isType, isMember || isVisible(declaration, at: index, file) else {
        continue
      }
      let isLocal =
        other == file
        && around.contains { $0.isFunction && $0.body.contains(declaration.body.lowerBound) }
      let isText =
        declaration.result.contains("String")
        || declaration.result.isEmpty && !declaration.body.isEmpty
          && files[other].tokens[declaration.body.lowerBound].kind == .string
      guard isText || isLocal && !isMember else { continue }
      let place = Place(file: other, start: declaration.body.lowerBound)
      isTraced = true
      if isMember { addAssigned(name, files[other].tokens.indices, other) }
      guard places.insert(place).inserted, !declaration.body.isEmpty else { continue }
      messages[files[other].path, default: []].formUnion(
        literals(declaration.body, other, areFragments: true))
      _ = trace(declaration.body, other)
    }
    if let function = around.last(where: { $0.isFunction }), !isMember {
      addAssigned(name, function.body, file)
    }
    return isTraced
  }

  /// Adds what is assigned to a variable or appended to it.
  private mutating func addAssigned(_ name: String, _ range: Range<Int>, _ file: Int) {
    let tokens = files[file].tokens
    for position in range where tokens[position].kind == .word && tokens[position].text == name {
      guard position + 2 < tokens.count, tokens[position - 1].text != "let",
        tokens[position - 1].text != "var"
      else { continue }
      var start = position + 1
      if tokens[start].text == ".", ["append", "insert"].contains(tokens[start + 1].text) {
        start += 3
      } else {
        if tokens[start].text == "[" { start = end(of: start, tokens) }
        guard ["=", "+="].contains(tokens[start].text) else { continue }
        start += 1
      }
      guard places.insert(Place(file: file, start: start)).inserted else { continue }
      let body = start..<endOfExpression(start, tokens)
      messages[files[file].path, default: []].formUnion(literals(body, file, areFragments: true))
      _ = trace(body, file)
    }
  }

  /// Whether a name that stands by itself may mean a declaration: of the same file, or of the same type.
  private func isVisible(_ declaration: Declaration, at index: Int, _ file: Int) -> Bool {
    if declaration.file == file { return true }
    let others = types(around: declaration.body.lowerBound, declaration.file).map(\.name)
    return types(around: index, file).contains { others.contains($0.name) }
  }

  private func types(around index: Int, _ file: Int) -> [Declaration] {
    declarations[file].filter { $0.isType && $0.body.contains(index) }
  }

  /// Adds the raw values of an enumeration of texts.
  private mutating func addRawValues(of type: Declaration, _ file: Int) {
    for (other, position) in byName[type.name] ?? [] where module[other] == module[file] {
      let tokens = files[other].tokens
      for index in declarations[other][position].body
      where tokens[index].kind == .string && tokens[index - 1].text == "="
        && ["case", ","].contains(tokens[index - 3].text)
      {
        messages[files[other].path, default: []].insert(tokens[index].text)
      }
    }
  }

  /// The interpolations of a literal.
  private static func interpolations(in text: String) -> [String] {
    var parts: [String] = []
    var rest = text[...]
    while let start = rest.firstRange(of: "\\(") {
      var depth = 1
      var end = start.upperBound
      while end < rest.endIndex, depth > 0 {
        if rest[end] == "(" { depth += 1 }
        if rest[end] == ")" { depth -= 1 }
        end = rest.index(after: end)
      }
      parts.append(String(rest[start.upperBound..<end].dropLast()))
      rest = rest[end...]
    }
    return parts
  }

  // MARK: - Literals

  /// The labels of arguments that are no messages.
  private static let otherLabels: Set<String> = [
    "sql", "table", "type", "property", "call", "path", "separator", "name", "in",
  ]

  private func isOtherLabel(_ index: Int, _ range: Range<Int>, _ tokens: [SwiftToken]) -> Bool {
    tokens[index].kind == .word && index + 1 < range.upperBound && tokens[index + 1].text == ":"
      && (index == range.lowerBound || ["(", ","].contains(tokens[index - 1].text))
      && Self.otherLabels.contains(tokens[index].text)
  }

  /// Returns the messages in a range of tokens.
  ///
  /// - Parameter areFragments: Whether the range may contain other texts too, such as SQL and names.
  private func literals(_ range: Range<Int>, _ file: Int, areFragments: Bool) -> Set<String> {
    let tokens = files[file].tokens
    var found: Set<String> = []
    var index = range.lowerBound
    while index < range.upperBound {
      if isOtherLabel(index, range, tokens) {
        index = endOfExpression(index + 2, tokens)
        continue
      }
      if tokens[index].kind == .string {
        let (text, end) = joined(from: index, in: range, tokens)
        if isMessage(text), !areFragments || isProse(text) { found.insert(text) }
        index = end
        continue
      }
      index += 1
    }
    return found
  }

  private static let sqlWords: Set<String> = [
    "SELECT", "AS", "IN", "IS", "FROM", "WHERE", "DESC", "CROSS", "ON", "COLLATE", "KEY", "THEN",
    "END", "LIMIT", "AUTOINCREMENT", "CAST",
    "substr", "SAVEPOINT", "COMMIT", "PARTITION", "ORDER", "typeof", "VALUES", "CASE", "DISTINCT",
    "AND", "OR",
  ]

  /// Whether a text has several words and is not SQL.
  private func isProse(_ text: String) -> Bool {
    let words = Self.withoutInterpolations(text).split { !$0.isLetter }
    guard text.contains(" "), let first = words.first else { return false }
    if text.contains("identifier:") || text.contains("NOT (") { return false }
    if !text.contains("declare"), words.contains(where: { Self.sqlWords.contains(String($0)) }) {
      return false
    }
    return !first.allSatisfy(\.isUppercase) || first.count < 2
  }

  /// Joins a literal with what is added to it by `+`.
  private func joined(from start: Int, in range: Range<Int>, _ tokens: [SwiftToken]) -> (
    String, Int
  ) {
    var text = ""
    if start > range.lowerBound, tokens[start - 1].text == "+" {
      text = "\\(" + operand(before: start - 1, range, tokens) + ")"
    }
    text += tokens[start].text
    var index = start + 1
    while index < range.upperBound, tokens[index].text == "+" {
      index += 1
      guard index < range.upperBound else { break }
      if tokens[index].kind == .string,
        index + 1 == range.upperBound || tokens[index + 1].text != "."
      {
        text += tokens[index].text
        index += 1
      } else {
        let end = endOfOperand(index, range, tokens)
        text += "\\(" + source(index..<end, tokens) + ")"
        index = max(end, index + 1)
      }
    }
    return (text, index)
  }

  private func source(_ range: Range<Int>, _ tokens: [SwiftToken]) -> String {
    var text = ""
    for index in range {
      let token = tokens[index]
      let isTight =
        text.isEmpty || [".", "(", ")", ",", "]", "[", ":"].contains(token.text)
        || ["(", ".", "["].contains(tokens[index - 1].text)
      let isCase =
        token.text == "." && index > range.lowerBound
        && [":", ","].contains(tokens[index - 1].text)
      if !isTight || isCase { text += " " }
      text += token.kind == .string ? "\"\(token.text)\"" : token.text
    }
    return text
  }

  private func endOfOperand(_ start: Int, _ range: Range<Int>, _ tokens: [SwiftToken]) -> Int {
    var index = start
    while index < range.upperBound {
      let token = tokens[index]
      if index > start, token.startsLine, token.text != "." { return index }
      switch token.text {
      case "(" where token.kind == .symbol, "[" where token.kind == .symbol,
        "{" where token.kind == .symbol:
        index = end(of: index, tokens)
        continue
      case "+", ",", ")", "]", "}", "?", ":", "??", ";": return index
      default: break
      }
      index += 1
    }
    return index
  }

  private func operand(before plus: Int, _ range: Range<Int>, _ tokens: [SwiftToken]) -> String {
    var index = plus
    while index > range.lowerBound {
      let token = tokens[index - 1]
      if token.kind == .symbol, [")", "]"].contains(token.text) {
        var depth = 0
        repeat {
          index -= 1
          if [")", "]"].contains(tokens[index].text) { depth += 1 }
          if ["(", "["].contains(tokens[index].text) { depth -= 1 }
        } while depth > 0 && index > range.lowerBound
        continue
      }
      guard token.kind == .word || token.text == ".", token.text != "return", token.text != "in"
      else { break }
      index -= 1
    }
    return source(index..<plus, tokens)
  }

  /// Whether a text has a word that is not part of an interpolation.
  private func isMessage(_ text: String) -> Bool {
    Self.withoutInterpolations(text).contains(where: \.isLetter)
  }

  /// Returns the text of a literal with `\()` for each interpolation.
  static func withoutInterpolations(_ text: String) -> String {
    var result = ""
    var depth = 0
    var previous: Character = " "
    for character in text {
      if character == "(", depth > 0 || previous == "\\" {
        if depth == 0 { result += "(" }
        depth += 1
      } else if character == ")", depth > 0 {
        depth -= 1
        if depth == 0 { result += ")" }
      } else if depth == 0 {
        result.append(character)
      }
      previous = character
    }
    return result
  }

  // MARK: - Descriptions

  private mutating func addDescriptions(in file: Int) {
    for type in declarations[file] where type.isType && errorTypes.contains(type.name) {
      for property in declarations[file] where type.body.contains(property.body.lowerBound) {
        guard ["description", "errorDescription", "message", "explanation"].contains(property.name)
        else { continue }
        let found = literals(property.body, file, areFragments: false)
        if !found.isEmpty, errorCases.values.contains(type.name) { describing.insert(type.name) }
        _ = trace(property.body, file)
        messages[files[file].path, default: []].formUnion(found)
      }
    }
  }

  // MARK: - The list

  /// The list: each module, its files and their messages, in order.
  var text: String {
    var text = """
      Every message of our own errors. The test ErrorMessageTests compares this list with the source.
      MAGICDATA_WRITE=1 swift test --filter ErrorMessageTests renews it.

      """
    var current = ""
    for (path, found) in messages.sorted(by: { $0.key < $1.key }) where !found.isEmpty {
      let module = Self.module(of: path)
      if module != current { text += "\n\(module)\n" }
      current = module
      text += "  \(path.dropFirst(module.utf8.count + 1))\n"
      for message in found.sorted() {
        let isPadded = message.first?.isWhitespace == true || message.last?.isWhitespace == true
        text += "    \(isPadded ? "'\(message)'" : message)\n"
      }
    }
    return text
  }

  /// Returns the entries of a list: module and message, without the content of interpolations. A list stays valid if code moves
  /// within a module, and if a variable is renamed.
  static func entries(in list: String) -> Set<String> {
    var entries: Set<String> = []
    var module = ""
    for line in list.split(separator: "\n") {
      if line.hasPrefix("    ") {
        entries.insert("\(module): \(withoutInterpolations(String(line.dropFirst(4))))")
      } else if line.hasPrefix("Sources/") {
        module = String(line)
      }
    }
    return entries
  }
}
