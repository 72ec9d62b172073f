extension ValueReader {
  func integer<Integer: FixedWidthInteger>(as type: Integer.Type) throws -> Integer {
    guard has(.integer) || (has(.described) && !isNull) else { return try wholeNumber(as: type) }
    guard let integer = state.document.integer(of: token, as: type) else {
      throw corrupted("“\(state.document.text(of: token))” is no \(Integer.self)")
    }
    return integer
  }

  /// An integer that was written as a number with a point.
  private func wholeNumber<Integer: FixedWidthInteger>(as type: Integer.Type) throws -> Integer {
    guard has(.double) || has(.float) else { throw mismatch(type, "an integer (!)") }
    guard let number = state.document.double(of: token), let integer = Integer(exactly: number)
    else {
      throw corrupted("“\(state.document.text(of: token))” is no \(Integer.self)")
    }
    return integer
  }

  func double() throws -> Double {
    if has(.double) {
      guard let number = state.document.double(of: token) else { throw notANumber() }
      return try checked(number)
    }
    if has(.float) {
      guard let number = state.document.float(of: token) else { throw notANumber() }
      return try checked(Double(number))
    }
    return try otherNumber(as: Double.self)
  }

  func float() throws -> Float {
    if has(.float) {
      guard let number = state.document.float(of: token) else { throw notANumber() }
      return try checked(number)
    }
    if has(.double) {
      guard let number = state.document.double(of: token) else { throw notANumber() }
      if number.isNaN { return try checked(.nan) }
      guard let exact = Float(exactly: number) else {
        throw corrupted("“\(state.document.text(of: token))” is no Float without rounding")
      }
      return try checked(exact)
    }
    return try otherNumber(as: Float.self)
  }

  /// A number that was written as an integer, or an infinite one that was written as text.
  private func otherNumber<Number: BinaryFloatingPoint>(as type: Number.Type) throws -> Number {
    if has(.integer) {
      guard let integer = state.document.integer(of: token, as: Int128.self) else {
        throw notANumber()
      }
      guard let number = Number(exactly: integer) else {
        throw corrupted("\(integer) is no \(type) without rounding")
      }
      return number
    }
    if has(.text),
      case .convertFromString(let positive, let negative, let nan) =
        state.decoder.nonConformingFloatDecodingStrategy
    {
      switch state.document.text(of: token) {
      case positive: return .infinity
      case negative: return -.infinity
      case nan: return .nan
      default: break
      }
    }
    throw mismatch(type, "a number (& or ^)")
  }

  private func checked<Number: BinaryFloatingPoint>(_ number: Number) throws -> Number {
    if number.isFinite { return number }
    guard case .literal = state.decoder.nonConformingFloatDecodingStrategy else {
      throw corrupted("the number is not finite")
    }
    return number
  }

  private func notANumber() -> DecodingError {
    corrupted("“\(state.document.text(of: token))” is no number")
  }
}
