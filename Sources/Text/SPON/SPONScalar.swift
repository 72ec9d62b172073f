import Essentials
import ExactText

/// A type whose values are encoded as one scalar, unless a strategy of the encoder requires
/// `encode(to:)` or a custom closure.
protocol SPONScalar {
  static func read(_ reader: ValueReader) throws -> Self
  /// Appends the text of the value to the scalars of `state`.
  ///
  /// - Parameters:
  ///   - state: The state of the encoding operation.
  ///   - isMember: Whether the value follows a key in an object, which changes its format.
  /// - Returns: Whether the text was appended. False if the encoder's strategy for this type
  ///   requires `encode(to:)` or a custom closure.
  /// - Throws: `EncodingError` if the encoder's strategy rejects the value.
  func append(to state: EncodingState, isMember: Bool) throws -> Bool
}

extension SPONScalar where Self: FixedWidthInteger {
  static func read(_ reader: ValueReader) throws -> Self { try reader.integer(as: Self.self) }

  func append(to state: EncodingState, isMember: Bool) -> Bool {
    state.scalars.append(self, isMember: isMember)
    return true
  }
}

extension Int: SPONScalar {}
extension Int8: SPONScalar {}
extension Int16: SPONScalar {}
extension Int32: SPONScalar {}
extension Int64: SPONScalar {}
extension Int128: SPONScalar {}
extension UInt: SPONScalar {}
extension UInt8: SPONScalar {}
extension UInt16: SPONScalar {}
extension UInt32: SPONScalar {}
extension UInt64: SPONScalar {}
extension UInt128: SPONScalar {}

extension Bool: SPONScalar {
  static func read(_ reader: ValueReader) throws -> Bool { try reader.bool() }

  func append(to state: EncodingState, isMember: Bool) -> Bool {
    state.scalars.append(plain: self ? "true" : "false", .bool, isMember: isMember)
    return true
  }
}

extension String: SPONScalar {
  static func read(_ reader: ValueReader) throws -> String { try reader.string() }

  func append(to state: EncodingState, isMember: Bool) -> Bool {
    state.scalars.append(self, .text, isMember: isMember)
    return true
  }
}

extension SPONScalar where Self: BinaryFloatingPoint & LosslessStringConvertible {
  static func read(_ reader: ValueReader) throws -> Self { try reader.number(as: Self.self) }

  func append(to state: EncodingState, isMember: Bool) throws -> Bool {
    if !isFinite, let text = try state.text(ofNonFinite: Double(self)) {
      return text.append(to: state, isMember: isMember)
    }
    state.scalars.append(
      plain: description, Self.self == Float.self ? .float : .double, isMember: isMember)
    return true
  }
}

extension Double: SPONScalar {}
extension Float: SPONScalar {}

extension EncodingState {
  /// Returns the text that the encoder's strategy defines for a non-finite number, or nil if the
  /// number is written as `inf`, `-inf` or `nan`. Throws if the strategy rejects such numbers.
  fileprivate func text(ofNonFinite value: Double) throws -> String? {
    switch encoder.nonConformingFloatEncodingStrategy {
    case .literal: nil
    case .throw: throw invalid(value, "\(value) is not finite")
    case .convertToString(let positive, let negative, let nan):
      value.isNaN ? nan : value > 0 ? positive : negative
    }
  }
}

extension Date: SPONScalar {
  static func read(_ reader: ValueReader) throws -> Date {
    switch reader.state.decoder.dateDecodingStrategy {
    case .text, .iso8601:
      guard reader.has(.date) || reader.has(.text) || reader.isDescribed else {
        throw reader.mismatch(Date.self, "a date (#)")
      }
      guard let date = DateText.date(from: reader.text) else {
        throw reader.corrupted("“\(reader.text)” is not a date")
      }
      return date
    case .deferredToDate: return try Date(from: reader)
    case .secondsSince1970: return Date(timeIntervalSince1970: try .read(reader))
    case .millisecondsSince1970: return Date(timeIntervalSince1970: try .read(reader) / 1_000)
    case .custom(let decode): return try decode(reader)
    }
  }

  func append(to state: EncodingState, isMember: Bool) throws -> Bool {
    switch state.encoder.dateEncodingStrategy {
    case .text:
      state.scalars.append(plain: DateText.text(of: self), .date, isMember: isMember)
      return true
    case .iso8601:
      guard let text = DateText.wholeSeconds(of: self) else {
        throw state.invalid(self, "the date is not in the years 0000 to 9999")
      }
      state.scalars.append(plain: text, .date, isMember: isMember)
      return true
    case .secondsSince1970: return try timeIntervalSince1970.append(to: state, isMember: isMember)
    case .millisecondsSince1970:
      return try (timeIntervalSince1970 * 1_000).append(to: state, isMember: isMember)
    case .deferredToDate, .custom: return false
    }
  }
}

extension Data: SPONScalar {
  static func read(_ reader: ValueReader) throws -> Data {
    switch reader.state.decoder.dataDecodingStrategy {
    case .custom(let decode): return try decode(reader)
    case .deferredToData: return try Data(from: reader)
    default: break
    }
    guard reader.has(.data) || reader.has(.text) else {
      throw reader.mismatch(Data.self, "bytes (*)")
    }
    guard let data = Data(base64Encoded: reader.text) else {
      throw reader.corrupted("the text is not valid base64")
    }
    return data
  }

  func append(to state: EncodingState, isMember: Bool) -> Bool {
    guard case .base64 = state.encoder.dataEncodingStrategy else { return false }
    state.scalars.append(plain: base64EncodedString(), .data, isMember: isMember)
    return true
  }
}

extension URL: SPONScalar {
  static func read(_ reader: ValueReader) throws -> URL {
    let text = try reader.string()
    guard let url = URL(string: text) else {
      throw reader.corrupted("“\(text)” is not a valid URL")
    }
    return url
  }

  func append(to state: EncodingState, isMember: Bool) -> Bool {
    absoluteString.append(to: state, isMember: isMember)
  }
}

extension Decimal: SPONScalar {
  static func read(_ reader: ValueReader) throws -> Decimal {
    guard [.text, .integer, .double, .float, .described].contains(where: reader.has) else {
      throw reader.mismatch(Decimal.self, "text ($) or a number")
    }
    let text = reader.text
    // `Decimal(string:)` ignores everything after the number, so check all characters first.
    guard text.isDecimal || text == "NaN", let decimal = Decimal(string: text) else {
      throw reader.corrupted("“\(text)” is not a decimal number")
    }
    return decimal
  }

  func append(to state: EncodingState, isMember: Bool) -> Bool {
    description.append(to: state, isMember: isMember)
  }
}

/// Returns `value` as `Result`, which must be its actual type.
///
/// Avoids a dynamic cast, which takes about a hundred instructions per value.
@inline(__always)
func same<Value, Result>(_ value: Value, as type: Result.Type) -> Result {
  unsafe unsafeBitCast(value, to: Result.self)
}
