import Platform

/// SQL text and the values bound to it: the only form in which calls take SQL.
///
/// Write it as a literal. An interpolated value is bound, never spliced into the text:
///
///     let name = "Robert'); DROP TABLE student;--"
///     try connection.executeQuery("SELECT * FROM student WHERE name = \(name)")
///
/// An identifier is spelled `\(identifier: column)`, a list for `IN` is an interpolated array, and an
/// interpolated `SQL` becomes part of the text with its own values. Text made at run time is spelled
/// ``init(unchecked:)``; nothing in it is checked or quoted.
public struct SQL: Sendable {
  /// The values, each with the text before it.
  private(set) var pieces: [Piece] = []
  /// The text behind the last value.
  private(set) var end: String
  /// The error of an interpolated value that cannot be bound; thrown before anything runs.
  package private(set) var failure: SQLiteError?

  /// A value, and the text before it.
  struct Piece: Sendable {
    var text: String
    /// Whether a `?` for the value follows the text; else there is one in it.
    let isMarked: Bool
    let parameter: Parameter

    var isEmpty: Bool { text.isEmpty && !isMarked }
  }

  /// The value or the list that is bound to one parameter.
  enum Parameter: Sendable {
    case value(Value)
    /// The rows of the table-valued function `magicdata_list`.
    case list([Value])
  }

  /// Takes text as it is.
  ///
  /// - Parameter text: SQL that no user's text was spliced into.
  public init(unchecked text: String) {
    end = text
  }

  /// Takes text with a parameter for each of the values.
  package init(_ text: String, _ values: [Value]) {
    pieces = values.map { Piece(text: "", isMarked: false, parameter: .value($0)) }
    end = pieces.isEmpty ? text : ""
    if !pieces.isEmpty { pieces[0].text = text }
  }
}

extension SQL {
  /// Appends text and values of another piece of SQL.
  ///
  /// - Parameter other: The other piece, appended as it is: no blank is put between.
  @inline(never)
  public mutating func append(_ other: SQL) {
    for piece in other.pieces {
      append(text: piece.text)
      append(piece.parameter, isMarked: piece.isMarked)
    }
    append(text: other.end)
    failure = failure ?? other.failure
  }

  /// Joins pieces of SQL.
  ///
  /// - Parameters:
  ///   - pieces: The pieces, in order.
  ///   - separator: SQL between two of them.
  @inline(never)
  public init(joining pieces: some Sequence<SQL>, separator: SQL) {
    self.init(unchecked: "")
    var isFirst = true
    for piece in pieces {
      if !isFirst { append(separator) }
      append(piece)
      isFirst = false
    }
  }

  mutating func reserve(_ count: Int) {
    pieces.reserveCapacity(count)
  }

  /// Appends text that no user's text was spliced into.
  @inline(never)
  package mutating func append(text: String) { add(text) }

  /// As ``append(text:)``, without a call (benchmark `insert`).
  @inline(__always) mutating func add(_ text: consuming String) {
    if end.isEmpty { end = text } else { end += text }
  }

  /// Appends a parameter and its value.
  @usableFromInline package mutating func append(value: consuming Value) {
    append(.value(value), isMarked: true)
  }

  /// Appends a list as the rows of a table, in parentheses.
  mutating func append(list: [Value]) {
    append(text: "(SELECT value FROM magicdata_list(")
    append(.list(list), isMarked: true)
    append(text: "))")
  }

  @inline(__always)
  private mutating func append(_ parameter: consuming Parameter, isMarked: Bool) {
    // Moved, since counting the references to a text takes as long as the rest (benchmark `insert`).
    var text = ""
    swap(&text, &end)
    pieces.append(Piece(text: text, isMarked: isMarked, parameter: parameter))
  }

  /// Takes note of a value that cannot be bound. The text shows where it is.
  @usableFromInline package mutating func refuse(_ error: SQLiteError) {
    append(text: "?")
    failure = failure ?? error
  }
}

// The text of a literal is joined only when somebody asks for it: finding a statement that was
// prepared before compares it piece by piece (benchmarks `point` and `insert`).
extension SQL {
  /// The text, with a `?` for each interpolated value.
  ///
  /// - Complexity: O(*n*) in its length if there are values, else O(1).
  public var text: String {
    if pieces.isEmpty { return end }
    // A text that was made with its parameters stays the one that the statement's is compared with.
    if end.isEmpty, !pieces[0].isMarked, pieces.dropFirst().allSatisfy({ $0.isEmpty }) {
      return pieces[0].text
    }
    var text = ""
    text.reserveCapacity(utf8Count)
    for piece in pieces {
      text += piece.text
      if piece.isMarked { text += "?" }
    }
    return text + end
  }

  /// The bound values, those of lists left out, for tests that say what is bound.
  package var values: [Value] {
    pieces.compactMap { if case .value(let value) = $0.parameter { value } else { nil } }
  }

  /// A number that a literal has each time that it runs, and few others have: what its first text is in memory.
  var literalNumber: Int {
    guard !pieces.isEmpty, let words = words(of: pieces[0].text) else { return 0 }
    return Int(truncatingIfNeeded: (words.0 ^ words.1 &>> 4) &+ UInt64(pieces.count))
  }

  /// The length of the text in bytes.
  var utf8Count: Int {
    var count = end.utf8.count
    for piece in pieces { count += piece.text.utf8.count + (piece.isMarked ? 1 : 0) }
    return count
  }

  /// The texts before, between and behind the values, unless a parameter stands in them.
  var texts: [String]? {
    pieces.allSatisfy(\.isMarked) ? pieces.map(\.text) + [end] : nil
  }

  /// Returns whether these are the texts, one and the same in memory: a literal that runs again has them.
  func hasTexts(_ texts: [String]) -> Bool {
    let count = pieces.count
    guard texts.count == count + 1, isSameText(end, texts[count]) else {
      return false
    }
    for index in 0..<count {
      guard pieces[index].isMarked, isSameText(pieces[index].text, texts[index]) else {
        return false
      }
    }
    return true
  }

  /// Returns whether the text has the bytes of `text`, which is as long.
  func isSpelled(_ text: String) -> Bool {
    var text = text
    return text.withUTF8 { bytes in
      guard var cursor = bytes.baseAddress else { return pieces.isEmpty && end.isEmpty }
      let end = unsafe cursor + bytes.count
      for piece in pieces {
        guard unsafe piece.text.occurs(at: &cursor, before: end) else { return false }
        guard piece.isMarked else { continue }
        guard unsafe cursor < end, unsafe cursor.pointee == UInt8(ascii: "?") else { return false }
        unsafe cursor += 1
      }
      return unsafe self.end.occurs(at: &cursor, before: end) && cursor == end
    }
  }
}

extension String {
  /// Returns whether bytes begin with this text, and moves on behind it.
  @unsafe @inline(__always) fileprivate func occurs(
    at cursor: inout UnsafePointer<UInt8>, before end: UnsafePointer<UInt8>
  ) -> Bool {
    let count = utf8.count
    if count == 0 { return true }
    guard unsafe count <= end - cursor else { return false }
    let start = unsafe cursor
    unsafe cursor += count
    let isSame = unsafe utf8.withContiguousStorageIfAvailable { own in
      unsafe own.baseAddress.map { unsafe memcmp($0, start, count) == 0 } ?? true
    }
    if let isSame { return isSame }
    // A string of Apple's frameworks may lend no bytes.
    return unsafe utf8.elementsEqual(UnsafeBufferPointer(start: start, count: count))
  }
}
