public import Essentials

extension SPONEncoder {
  /// How the text looks.
  public struct OutputFormatting: OptionSet, Sendable {
    /// The bits of the set.
    public let rawValue: Int

    /// Makes a set of bits.
    ///
    /// - Parameter rawValue: The bits.
    public init(rawValue: Int) {
      self.rawValue = rawValue
    }

    /// Each member and each element stands in a line of its own.
    public static let prettyPrinted = OutputFormatting(rawValue: 1)
    /// The members of each object are in the order of their keys' UTF-8 bytes.
    public static let sortedKeys = OutputFormatting(rawValue: 2)
    /// Objects do not name their types.
    public static let withoutTypeNames = OutputFormatting(rawValue: 4)
  }

  /// How dates are written.
  public enum DateEncodingStrategy: Sendable {
    /// As `2017-10-13T12:00:00.25Z`, with as many digits as reading the very same `Date` back needs;
    /// outside the years 0000 to 9999 as seconds since 2001.
    case text
    /// As `Date` encodes itself: a number of seconds since 2001.
    case deferredToDate
    /// As a number of seconds since 1970, which rounds.
    case secondsSince1970
    /// As a number of milliseconds since 1970, which rounds.
    case millisecondsSince1970
    /// As text such as `2017-10-13T12:00:00Z`, without fractions of a second.
    case iso8601
    /// As a function encodes it.
    case custom(@Sendable (Date, any Encoder) throws -> Void)
  }

  /// How `Data` is written.
  public enum DataEncodingStrategy: Sendable {
    /// As base64 with the mark `*`.
    case base64
    /// As `Data` encodes itself: an array of bytes.
    case deferredToData
    /// As a function encodes it.
    case custom(@Sendable (Data, any Encoder) throws -> Void)
  }

  /// How numbers that are infinite or not a number are written.
  public enum NonConformingFloatEncodingStrategy: Sendable {
    /// As `inf`, `-inf` and `nan` with the mark of a number.
    case literal
    /// Not at all: encoding throws.
    case `throw`
    /// As text.
    case convertToString(positiveInfinity: String, negativeInfinity: String, nan: String)
  }

  /// How keys are written.
  public enum KeyEncodingStrategy: Sendable {
    /// As they are.
    case useDefaultKeys
    /// `firstName` as `first_name`, by the rules of Foundation's coders.
    case convertToSnakeCase
    /// As a function makes them of the path to the value, the key itself being last.
    case custom(@Sendable ([any CodingKey]) -> any CodingKey)
  }
}
