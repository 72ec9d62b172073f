package import Essentials
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
