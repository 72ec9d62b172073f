import Platform

// The text of a literal is joined only when somebody asks for it: finding a statement that was
// prepared before compares it piece by piece (benchmarks `point` and `insert`).
extension SQL {
  /// The text, with a `?` for each interpolated value.
  ///
  /// - Complexity: O(*n*) in its length if there are values, else O(1).
  public var text: String {
    if pieces.isEmpty { return end }
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
    pieces.compactMap { if case .value(let value) = $0.argument { value } else { nil } }
  }

  /// The length of the text in bytes.
  var utf8Count: Int {
    var count = end.utf8.count
    for piece in pieces { count += piece.text.utf8.count + (piece.isMarked ? 1 : 0) }
    return count
  }

  /// Says whether the text has the bytes of `text`, which is as long.
  func isSpelled(_ text: String) -> Bool {
    var text = text
    return text.withUTF8 { bytes in
      guard var place = bytes.baseAddress else { return pieces.isEmpty && end.isEmpty }
      let end = unsafe place + bytes.count
      for piece in pieces {
        guard unsafe piece.text.occurs(at: &place, before: end) else { return false }
        guard piece.isMarked else { continue }
        guard unsafe place < end, unsafe place.pointee == UInt8(ascii: "?") else { return false }
        unsafe place += 1
      }
      return unsafe self.end.occurs(at: &place, before: end) && place == end
    }
  }
}

extension String {
  /// Says whether bytes begin with this text, and moves on behind it.
  @unsafe @inline(__always) fileprivate func occurs(
    at place: inout UnsafePointer<UInt8>, before end: UnsafePointer<UInt8>
  ) -> Bool {
    let count = utf8.count
    if count == 0 { return true }
    guard unsafe count <= end - place else { return false }
    let start = unsafe place
    unsafe place += count
    let isSame = unsafe utf8.withContiguousStorageIfAvailable { own in
      unsafe own.baseAddress.map { unsafe memcmp($0, start, count) == 0 } ?? true
    }
    if let isSame { return isSame }
    // None is lent by a text that lies in Apple's frameworks.
    return unsafe utf8.elementsEqual(UnsafeBufferPointer(start: start, count: count))
  }
}
