/// A text that is not SPON, or that the seed of this library wrote in a form that can be read in two
/// ways.
public struct SPONSyntaxError: Error, Hashable, CustomStringConvertible {
  /// Where the text stops being SPON: a number of bytes from its beginning.
  public let offset: Int
  /// What stands there, or what should.
  public let reason: String

  package init(_ offset: Int, _ reason: String) {
    self.offset = offset
    self.reason = reason
  }

  /// The place and the reason.
  public var description: String { "not SPON: byte \(offset): \(reason)" }
}
