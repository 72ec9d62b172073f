public import Essentials
import ExactText
public import SQLiteCore

extension URL: Bindable, ColumnValue {
  /// The absolute string of the URL as text.
  ///
  /// - Throws: `SQLiteError` with `mismatch` if the URL is relative to a base.
  public var databaseValue: Value {
    get throws(SQLiteError) {
      guard baseURL == nil else {
        throw SQLiteError(
          .mismatch, "a URL relative to a base cannot be stored; use its absoluteURL")
      }
      return .text(absoluteString)
    }
  }

  /// Creates a URL from text.
  ///
  /// - Parameter databaseValue: The content of a column.
  /// - Throws: `SQLiteError` with `mismatch` if the value is not text, or if `URL` would change the
  ///   text, for example to escape a space.
  public init(databaseValue: Value) throws(SQLiteError) {
    guard case .text(let text) = databaseValue else {
      throw databaseValue.mismatch(expected: URL.self)
    }
    guard let url = URL(string: text), url.absoluteString == text else {
      throw SQLiteError(.mismatch, "the stored text is not a URL")
    }
    self = url
  }
}

extension URL: ScalarValue {
  static func columnType(_ forms: ScalarForms) -> ColumnType { .text }
}

extension URL {
  /// Returns the path of a file URL with its percent-encoding decoded and without trailing slashes.
  ///
  /// - Throws: `SQLiteError` with `cannotOpen` if the URL doesn't reference a file on this machine,
  ///   has a query or a fragment, or has a path that is empty, contains a NUL, is not valid UTF-8,
  ///   or is percent-encoded incorrectly.
  package func filePath() throws(SQLiteError) -> String {
    func refused(_ reason: String) -> SQLiteError {
      SQLiteError(.cannotOpen, "the URL \(absoluteString) is not a valid file URL: \(reason)")
    }
    guard isFileURL else { throw refused("its scheme is not “file”") }
    let host = host(percentEncoded: false) ?? ""
    guard host.isEmpty || host == "localhost" else { throw refused("its host is another computer") }
    guard query(percentEncoded: true) == nil, fragment(percentEncoded: true) == nil else {
      throw refused("it has a query or a fragment")
    }
    guard var bytes = Self.unescaped(absoluteURL.path(percentEncoded: true)) else {
      throw refused("its percent-encoding is invalid")
    }
    while bytes.count > 1, bytes.last == UInt8(ascii: "/") { bytes.removeLast() }
    guard !bytes.isEmpty, !bytes.contains(0) else {
      throw refused("its path is empty or contains a NUL character")
    }
    guard let path = String(validating: bytes, as: UTF8.self) else {
      throw refused("its path is not valid UTF-8")
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
