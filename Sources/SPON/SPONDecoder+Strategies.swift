public import Essentials

extension SPONDecoder {
  /// How dates are read.
  public enum DateDecodingStrategy: Sendable {
    /// From the text of a date, ISO 8601 with any fraction or the first implementation's
    /// `2017-10-13 12:00:00 +0000`, or from seconds since 2001.
    case text
    /// As `Date` decodes itself: from a number of seconds since 2001.
    case deferredToDate
    /// From a number of seconds since 1970.
    case secondsSince1970
    /// From a number of milliseconds since 1970.
    case millisecondsSince1970
    /// From text, as ``text``.
    case iso8601
    /// As a function decodes it.
    case custom(@Sendable (any Decoder) throws -> Date)
  }

  /// How `Data` is read.
  public enum DataDecodingStrategy: Sendable {
    /// From base64.
    case base64
    /// As `Data` decodes itself: from an array of bytes.
    case deferredToData
    /// As a function decodes it.
    case custom(@Sendable (any Decoder) throws -> Data)
  }

  /// What text is read as an infinite number, or as none.
  public enum NonConformingFloatDecodingStrategy: Sendable {
    /// The words `inf`, `-inf` and `nan` of a number.
    case literal
    /// Nothing: decoding throws.
    case `throw`
    /// Other words, in a text.
    case convertFromString(positiveInfinity: String, negativeInfinity: String, nan: String)
  }

  /// How keys are read.
  public enum KeyDecodingStrategy: Sendable {
    /// As they are.
    case useDefaultKeys
    /// `first_name` as `firstName`, by the rules of Foundation's coders.
    case convertFromSnakeCase
    /// As a function makes them of the path to the value, the key itself being last.
    case custom(@Sendable ([any CodingKey]) -> any CodingKey)
  }
}
