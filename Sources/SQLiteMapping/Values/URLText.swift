package import Essentials
import ExactText
package import SQLiteCore

/// `URL` as the TEXT of its `absoluteString`: exact.
package enum URLText {
  /// Returns what is stored for `url`.
  ///
  /// - Throws: `SQLiteError` with `mismatch` for a URL with a base, which text would lose.
  package static func value(for url: URL) throws(SQLiteError) -> Value {
    guard url.baseURL == nil else {
      throw SQLiteError(.mismatch, "a URL relative to a base cannot be stored; use its absoluteURL")
    }
    return .text(url.absoluteString)
  }

  /// Returns the URL that `value` stores.
  ///
  /// - Throws: `SQLiteError` with `mismatch` if `value` is of another kind or no URL, or one that
  ///   `URL` would change: text with a space or an accent must be percent-encoded.
  package static func url(from value: Value) throws(SQLiteError) -> URL {
    guard case .text(let text) = value else { throw value.mismatch(expected: URL.self) }
    guard let url = URL(string: text), url.absoluteString == text else {
      throw SQLiteError(.mismatch, "the stored text is not a URL")
    }
    return url
  }
}

extension URL {
  /// The path that a file URL names, byte for byte.
  ///
  /// - Throws: `SQLiteError` with `cannotOpen` for a URL of something else than a file of this machine,
  ///   with a query or a fragment, or whose path is not UTF-8.
  package func filePath() throws(SQLiteError) -> String {
    func refused(_ reason: String) -> SQLiteError {
      SQLiteError(.cannotOpen, "the URL \(absoluteString) names no file: \(reason)")
    }
    guard isFileURL else { throw refused("its scheme is not “file”") }
    let host = host(percentEncoded: false) ?? ""
    guard host.isEmpty || host == "localhost" else { throw refused("the host is another machine") }
    guard query(percentEncoded: true) == nil, fragment(percentEncoded: true) == nil else {
      throw refused("a path has no query and no fragment")
    }
    guard var bytes = Self.unescaped(absoluteURL.path(percentEncoded: true)) else {
      throw refused("its escapes are wrong")
    }
    while bytes.count > 1, bytes.last == UInt8(ascii: "/") { bytes.removeLast() }
    guard !bytes.isEmpty, !bytes.contains(0) else {
      throw refused("its path is empty or contains a NUL")
    }
    guard let path = String(validating: bytes, as: UTF8.self) else {
      throw refused("its path is not UTF-8")
    }
    return path
  }

  private static func unescaped(_ text: String) -> [UInt8]? {
    var bytes: [UInt8] = []
    var rest = text.utf8.makeIterator()
    while let byte = rest.next() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let high = rest.next().flatMap(Hex.value), let low = rest.next().flatMap(Hex.value)
      else {
        return nil
      }
      bytes.append(high << 4 | low)
    }
    return bytes
  }
}
