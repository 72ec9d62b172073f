import Essentials
import ExactText

extension ValueReader {
  /// Reads a value of any type.
  func read<T: Decodable>(_ type: T.Type) throws -> T {
    if type == String.self { return same(try string(), as: T.self) }
    if type == Int.self { return same(try integer(as: Int.self), as: T.self) }
    if type == Double.self { return same(try double(), as: T.self) }
    if type == Bool.self { return same(try bool(), as: T.self) }
    if type == Date.self { return same(try date(), as: T.self) }
    if type == Data.self { return same(try data(), as: T.self) }
    if type == URL.self { return same(try url(), as: T.self) }
    if type == Decimal.self { return same(try decimal(), as: T.self) }
    return try T(from: self)
  }

  private func date() throws -> Date {
    switch state.decoder.dateDecodingStrategy {
    case .text, .iso8601:
      guard has(.date) || has(.text) || (has(.described) && !isNull) else {
        throw mismatch(Date.self, "a date (#)")
      }
      let text = state.document.text(of: token)
      guard let date = DateText.date(from: text) else { throw corrupted("“\(text)” is no date") }
      return date
    case .deferredToDate:
      return Date(timeIntervalSinceReferenceDate: try double())
    case .secondsSince1970:
      return Date(timeIntervalSince1970: try double())
    case .millisecondsSince1970:
      return Date(timeIntervalSince1970: try double() / 1_000)
    case .custom(let decode):
      return try decode(self)
    }
  }

  private func data() throws -> Data {
    switch state.decoder.dataDecodingStrategy {
    case .base64:
      guard has(.data) || has(.text) else { throw mismatch(Data.self, "bytes (*)") }
      let range = state.document.tokens[token].range
      guard let data = Data(base64Encoded: Data(state.document.bytes[range])) else {
        throw corrupted("the text is not base64")
      }
      return data
    case .deferredToData:
      return try Data(from: self)
    case .custom(let decode):
      return try decode(self)
    }
  }

  private func url() throws -> URL {
    let text = try string()
    guard let url = URL(string: text) else { throw corrupted("“\(text)” is no URL") }
    return url
  }

  private func decimal() throws -> Decimal {
    guard has(.text) || has(.integer) || has(.double) || has(.float) || has(.described) else {
      throw mismatch(Decimal.self, "text ($) or a number")
    }
    let text = state.document.text(of: token)
    // `Decimal` would read the beginning of a text and leave out the rest.
    let isNumber =
      !text.isEmpty
      && text.utf8.allSatisfy { (48...57).contains($0) || [43, 45, 46, 69, 101].contains($0) }
    guard isNumber || text == "NaN", let decimal = Decimal(string: text) else {
      throw corrupted("“\(text)” is no decimal number")
    }
    return decimal
  }
}
