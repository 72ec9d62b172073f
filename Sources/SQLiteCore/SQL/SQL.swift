import Platform

/// SQL text and the values that are bound to its parameters.
///
/// Write SQL as a literal. An interpolated value becomes a parameter; it is never inserted into the
/// text:
///
///     let name = "Robert'); DROP TABLE student;--"
///     try connection.executeQuery("SELECT * FROM student WHERE name = \(name)")
///
/// For an identifier, write `\(identifier: column)`. For the list of `IN`, interpolate an array. An
/// interpolated `SQL` adds its text and its values. For text that is composed at run time, use
/// ``init(unchecked:)``, which neither checks nor quotes anything.
public struct SQL: Sendable {
  /// The values, each with the text that precedes it.
  private(set) var pieces: [Piece] = []
  /// The text after the last value.
  private(set) var end: String
  /// The error of the first interpolated value that can't be bound, or nil. It is thrown before the
  /// statement is compiled.
  package private(set) var failure: SQLiteError?

  /// A value and the text that precedes it.
  struct Piece: Sendable {
    var text: String
    /// Whether a `?` for the value follows `text`. If false, the text of this or an earlier piece
    /// already contains the value's parameter.
    let isMarked: Bool
    let parameter: Parameter

    var isEmpty: Bool { text.isEmpty && !isMarked }
  }

  /// A value or a list that is bound to one parameter.
  enum Parameter: Sendable {
    case value(Value)
    /// The elements of a list, which become the rows of the table-valued function `magicdata_list`.
    case list([Value])
  }

  /// Creates SQL from text that is composed at run time, without checking or quoting anything.
  ///
  /// - Parameter text: The SQL text. To prevent SQL injection, it must not contain text from users.
  public init(unchecked text: String) {
    end = text
  }

  /// Creates SQL from text that already contains one parameter for each value, in the same order.
  package init(_ text: String, _ values: [Value]) {
    pieces = values.map { Piece(text: "", isMarked: false, parameter: .value($0)) }
    end = pieces.isEmpty ? text : ""
    if !pieces.isEmpty { pieces[0].text = text }
  }
}

extension SQL {
  /// Appends the text and the values of `other`.
  ///
  /// - Parameter other: The SQL to append. No space is inserted before it.
  @inline(never)
  public mutating func append(_ other: SQL) {
    for piece in other.pieces {
      append(text: piece.text)
      append(piece.parameter, isMarked: piece.isMarked)
    }
    append(text: other.end)
    failure = failure ?? other.failure
  }

  /// Creates SQL by joining parts of a statement.
  ///
  /// - Parameters:
  ///   - pieces: The parts, in order.
  ///   - separator: The SQL to insert between two parts, such as `", "`.
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

  /// Appends text, which must not contain text from users.
  @inline(never)
  package mutating func append(text: String) { add(text) }

  /// Appends text, which must not contain text from users. Always inlined (benchmark `insert`).
  @inline(__always) mutating func add(_ text: consuming String) {
    if end.isEmpty { end = text } else { end += text }
  }

  /// Appends a `?` and the value to bind to it.
  @usableFromInline package mutating func append(value: consuming Value) {
    append(.value(value), isMarked: true)
  }

  /// Appends a subquery in parentheses that returns the elements of a list, which is bound to a
  /// single parameter.
  mutating func append(list: [Value]) {
    append(text: "(SELECT value FROM magicdata_list(")
    append(.list(list), isMarked: true)
    append(text: "))")
  }

  @inline(__always)
  private mutating func append(_ parameter: consuming Parameter, isMarked: Bool) {
    // Moves the text, because retaining and releasing it takes as long as the rest (benchmark
    // `insert`).
    var text = ""
    swap(&text, &end)
    pieces.append(Piece(text: text, isMarked: isMarked, parameter: parameter))
  }

  /// Records the error of a value that can't be bound, and appends a `?` in place of the value.
  @usableFromInline package mutating func refuse(_ error: SQLiteError) {
    append(text: "?")
    failure = failure ?? error
  }
}

// The text of a literal is joined only on demand: the statement cache finds a prepared statement by
// comparing the pieces (benchmarks `point` and `insert`).
extension SQL {
  /// The SQL text, with a `?` for each interpolated value.
  ///
  /// - Complexity: O(*n*) in the length of the text if there are values, otherwise O(1).
  public var text: String {
    if pieces.isEmpty { return end }
    // If the SQL was created from text with parameters, return that text, so that the cache
    // compares the same string.
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

  /// The bound values except lists, for tests.
  package var values: [Value] {
    pieces.compactMap { if case .value(let value) = $0.parameter { value } else { nil } }
  }

  /// A hash of the literal, computed from the in-memory representation of its first text and the
  /// number of its values. All evaluations of one literal have the same hash. Different literals
  /// rarely have equal hashes.
  var literalHash: Int {
    guard !pieces.isEmpty, let words = words(of: pieces[0].text) else { return 0 }
    return Int(truncatingIfNeeded: (words.0 ^ words.1 &>> 4) &+ UInt64(pieces.count))
  }

  /// The length of the text in bytes of UTF-8.
  var utf8Count: Int {
    var count = end.utf8.count
    for piece in pieces { count += piece.text.utf8.count + (piece.isMarked ? 1 : 0) }
    return count
  }

  /// The texts before, between and after the values, or nil if a text contains parameters itself.
  var texts: [String]? {
    pieces.allSatisfy(\.isMarked) ? pieces.map(\.text) + [end] : nil
  }

  /// Returns whether this SQL's texts are the same strings in memory as `texts`, which is the case
  /// for each evaluation of one literal.
  func hasIdenticalTexts(_ texts: [String]) -> Bool {
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

  /// Returns whether the joined text is equal to `text`, byte by byte.
  func hasBytes(_ text: String) -> Bool {
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
  /// Returns whether the bytes at `cursor` begin with this text. If they do, advances `cursor` to
  /// the byte after the text.
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
    // A bridged string of Apple's frameworks may have no contiguous storage.
    return unsafe utf8.elementsEqual(UnsafeBufferPointer(start: start, count: count))
  }
}
