import Essentials
import ExactText

extension EncodingPlace {
  /// Writes the value of a member or an element that was begun.
  func encode<T: Encodable>(_ value: T, isMember: Bool, key: some CodingKey) throws {
    if try encodeSimple(value, isMember: isMember) { return }
    if let failure = output.state.failure { throw failure }
    func inside(_ write: (EncodingPlace) throws -> Void) throws {
      output.path.append(key)
      try write(output.open(T.self, isMember: isMember))
      output.close()
      output.path.removeLast()
    }
    if try encodeFoundation(value, isMember: isMember, inside: inside) { return }
    try inside { try value.encode(to: $0) }
  }

  /// Writes a value in this place itself.
  func encodeHere<T: Encodable>(_ value: T) throws {
    let isMember = output.frames[index].isMember
    if try encodeSimple(value, isMember: isMember) { return }
    if let failure = output.state.failure { throw failure }
    func inside(_ write: (EncodingPlace) throws -> Void) throws {
      output.frames[index].kind = .empty
      output.frames[index].type = T.self
      try write(self)
    }
    if try encodeFoundation(value, isMember: isMember, inside: inside) { return }
    try inside { try value.encode(to: $0) }
  }

  /// Writes a value of a type that has a mark of its own and is met in generic code, too.
  @inline(__always)
  private func encodeSimple<T: Encodable>(_ value: T, isMember: Bool) throws -> Bool {
    if T.self == String.self {
      output.text.append(same(value, as: String.self), isMember: isMember)
    } else if T.self == Int.self {
      output.text.append(same(value, as: Int.self), isMember: isMember)
    } else if T.self == Double.self {
      try encode(same(value, as: Double.self), isMember: isMember)
    } else if T.self == Bool.self {
      output.text.append(same(value, as: Bool.self), isMember: isMember)
    } else {
      return false
    }
    return true
  }

  private func encodeFoundation<T: Encodable>(
    _ value: T, isMember: Bool, inside: ((EncodingPlace) throws -> Void) throws -> Void
  ) throws -> Bool {
    if T.self == Date.self {
      try encode(same(value, as: Date.self), isMember: isMember, inside: inside)
    } else if T.self == Data.self {
      try encode(same(value, as: Data.self), isMember: isMember, inside: inside)
    } else if T.self == URL.self {
      output.text.append(same(value, as: URL.self).absoluteString, isMember: isMember)
    } else if T.self == Decimal.self {
      output.text.append(same(value, as: Decimal.self).description, isMember: isMember)
    } else {
      return false
    }
    return true
  }

  func encode(_ value: Double, isMember: Bool) throws {
    if value.isFinite { return output.text.append(value, isMember: isMember) }
    if let text = try text(ofNonFinite: value) {
      output.text.append(text, isMember: isMember)
    } else {
      output.text.append(value, isMember: isMember)
    }
  }

  func encode(_ value: Float, isMember: Bool) throws {
    if !value.isFinite, let text = try text(ofNonFinite: Double(value)) {
      output.text.append(text, isMember: isMember)
    } else {
      output.text.append(value, isMember: isMember)
    }
  }

  /// The text in the place of an infinite number, or nil if it is written as a number.
  private func text(ofNonFinite value: Double) throws -> String? {
    switch output.state.encoder.nonConformingFloatEncodingStrategy {
    case .literal: nil
    case .throw: throw EncodingError.invalidValue(value, output.context("\(value) is not finite"))
    case .convertToString(let positive, let negative, let nan):
      value.isNaN ? nan : value > 0 ? positive : negative
    }
  }

  private func encode(
    _ date: Date, isMember: Bool, inside: ((EncodingPlace) throws -> Void) throws -> Void
  ) throws {
    switch output.state.encoder.dateEncodingStrategy {
    case .text:
      output.text.append(plain: DateText.text(of: date).utf8, .date, isMember: isMember)
    case .iso8601:
      guard let text = DateText.wholeSeconds(of: date) else {
        throw EncodingError.invalidValue(
          date, output.context("the date is not in the years 0000 to 9999"))
      }
      output.text.append(plain: text.utf8, .date, isMember: isMember)
    case .deferredToDate:
      try encode(date.timeIntervalSinceReferenceDate, isMember: isMember)
    case .secondsSince1970:
      try encode(date.timeIntervalSince1970, isMember: isMember)
    case .millisecondsSince1970:
      try encode(date.timeIntervalSince1970 * 1_000, isMember: isMember)
    case .custom(let encode):
      try inside { try encode(date, $0) }
    }
  }

  private func encode(
    _ data: Data, isMember: Bool, inside: ((EncodingPlace) throws -> Void) throws -> Void
  ) throws {
    switch output.state.encoder.dataEncodingStrategy {
    case .base64:
      output.text.append(plain: data.base64EncodedData(), .data, isMember: isMember)
    case .deferredToData:
      try inside { try data.encode(to: $0) }
    case .custom(let encode):
      try inside { try encode(data, $0) }
    }
  }
}

extension EncodingOutput {
  func encodeRoot<T: Encodable>(_ value: T) throws {
    let place = open(T.self, isMember: false)
    var container = SinglePlace(place: place)
    try container.encode(value)
    close()
  }
}

/// The same value as another type, which must be its own.
///
/// A cast of the runtime would take a hundred instructions for each value.
@inline(__always)
func same<Value, Result>(_ value: Value, as type: Result.Type) -> Result {
  unsafe unsafeBitCast(value, to: Result.self)
}
