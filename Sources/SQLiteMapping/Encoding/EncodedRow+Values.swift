import Essentials
import SQLiteCore

extension EncodedRow {
  func bind(_ integer: some FixedWidthInteger, at parameter: Int32) throws {
    guard let exact = Int64(exactly: integer) else {
      throw named(
        SQLiteError(.range, "the number does not fit SQLite's 64-bit integer"), parameter)
    }
    try handle.bind(exact, at: parameter)
    mark(parameter)
  }

  func bind(_ boolean: Bool, at parameter: Int32) throws {
    try handle.bind(boolean ? 1 : 0 as Int64, at: parameter)
    mark(parameter)
  }

  func bind(_ real: Double, at parameter: Int32) throws {
    do {
      try handle.bind(real, at: parameter)
    } catch {
      throw named(error, parameter)
    }
    mark(parameter)
  }

  func bind(_ text: String, at parameter: Int32) throws {
    try handle.bind(text, at: parameter)
    mark(parameter)
  }

  func bind(_ data: Data, at parameter: Int32) throws {
    if bindsBlobs {
      try handle.bind(bytes: data.bytes, at: parameter)
    } else {
      try handle.bind(strategies.data.value(for: data), at: parameter)
    }
    mark(parameter)
  }

  /// Binds a value of any type.
  func bind(any value: some Encodable, at parameter: Int32) throws {
    if try bind(foundation: value, at: parameter) { return }
    isNested = true
    do {
      try value.encode(to: ColumnEncoder(self, parameter: parameter))
    } catch is NestingSignal {
      isNested = true
    }
    guard isNested else { return }
    isNested = false
    try bind(nested: value, at: parameter)
  }

  /// Binds a value of a type that has a stored form of its own, and says whether it is one.
  private func bind<Source>(foundation value: Source, at parameter: Int32) throws -> Bool {
    do throws(SQLiteError) {
      if Source.self == Data.self, bindsBlobs {
        // From the type to itself, which the comparison has just proved; without a copy.
        let data = unsafe unsafeBitCast(value, to: Data.self)
        try handle.bind(bytes: data.bytes, at: parameter)
      } else if let stored = try strategies.storedForm(of: value) {
        try handle.bind(stored, at: parameter)
      } else {
        return false
      }
    } catch {
      throw named(error, parameter)
    }
    mark(parameter)
    return true
  }

  private func bind(nested value: some Encodable, at parameter: Int32) throws {
    switch strategies.nested {
    case .text, .blob:
      try bind(json: NestedJSON.encoder().encode(value), at: parameter)
    case .coder(let coder):
      try handle.bind(coder.encode(value), at: parameter)
      mark(parameter)
    }
  }

  /// Binds JSON as the strategy says.
  func bind(json: Data, at parameter: Int32) throws {
    switch strategies.nested {
    case .text: try unsafe handle.bind(bytes: json.span.bytes, asText: true, at: parameter)
    case .blob: try unsafe handle.bind(bytes: json.span.bytes, at: parameter)
    case .coder:
      throw named(
        SQLiteError(.misuse, "a nested container needs JSON, and another coder is set"), parameter)
    }
    mark(parameter)
  }
}
