import ExactText
public import Essentials
public import SQLiteCore

/// How `Data` is stored. Every strategy is exact.
public enum DataStrategy: Hashable, Sendable, CaseIterable {
  /// A BLOB of the bytes; empty data is an empty blob and not NULL.
  case blob
  /// TEXT in base64 with padding, in one line.
  case base64
  /// TEXT in uppercase hexadecimal digits, as SQLite's `hex()`; lowercase is read too.
  case hex

  /// Returns what is stored for `data`.
  package func value(for data: Data) -> Value {
    switch self {
    case .blob: .blob(data.byteArray)
    case .base64: .text(data.base64EncodedString())
    case .hex: .text(Hex.uppercaseText(of: data.byteArray))
    }
  }

  /// Returns the data that `value` stores.
  ///
  /// - Throws: `SQLiteError` with `mismatch` if `value` is of another kind or not such text.
  package func data(from value: Value) throws(SQLiteError) -> Data {
    switch (self, value) {
    case (.blob, .blob(let bytes)): return Data(bytes)
    case (.base64, .text(let text)):
      guard let data = Data(base64Encoded: text) else {
        throw SQLiteError(.mismatch, "the stored text is not base64")
      }
      return data
    case (.hex, .text(let text)): return try Self.data(hexText: text)
    default: throw value.mismatch(expected: Data.self)
    }
  }

  private static func data(hexText: String) throws(SQLiteError) -> Data {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(hexText.utf8.count / 2)
    var high: UInt8?
    for digit in hexText.utf8 {
      guard let value = Hex.value(digit) else {
        throw SQLiteError(.mismatch, "the stored text is not hexadecimal")
      }
      if let first = high {
        bytes.append(first << 4 | value)
        high = nil
      } else {
        high = value
      }
    }
    guard high == nil else {
      throw SQLiteError(.mismatch, "the stored hexadecimal text has an odd number of digits")
    }
    return Data(bytes)
  }
}

extension Data {
  /// The bytes as an array, copied into memory that is the array's own from the start (the plain
  /// initializer may be freed early by Swift 6.3.1's optimizer).
  package var byteArray: [UInt8] {
    unsafe withUnsafeBytes { unsafe copiedBytes($0.baseAddress, count: $0.count) }
  }
}

// Bound and read: by itself in the default form, and as a property in the form of the type's strategies.

extension Data: Bindable, ColumnValue {
  /// The bytes: ``DataStrategy/blob``.
  public var databaseValue: Value { DataStrategy.blob.value(for: self) }

  /// Binds the bytes: ``DataStrategy/blob``.
  public func bind(to statement: inout Statement, at parameter: Int) throws(SQLiteError) {
    try statement.bind(bytes, at: parameter)
  }

  /// Makes data from a BLOB: ``DataStrategy/blob``.
  public init(databaseValue: Value) throws(SQLiteError) {
    self = try DataStrategy.blob.data(from: databaseValue)
  }

  /// Reads a BLOB: ``DataStrategy/blob``.
  public static func read(
    from statement: borrowing Statement, at column: Int
  ) throws(SQLiteError) -> Data {
    var data = Data()
    try unsafe statement.withExactBytes(at: column, expected: Data.self) { bytes in
      data = unsafe Data(bytes)
    }
    return data
  }
}

extension Data: ScalarValue {
  static var kind: ScalarKind { .data }

  static func columnType(_ forms: ScalarForms) -> ColumnType {
    forms.data == .blob ? .blob : .text
  }

  func stored(_ forms: ScalarForms) -> Value { forms.data.value(for: self) }

  static func value(of stored: Value, _ forms: ScalarForms) throws(SQLiteError) -> Data {
    try forms.data.data(from: stored)
  }

  func bind(
    to handle: StatementHandle, at parameter: Int32, _ forms: ScalarForms
  ) throws(SQLiteError) {
    if forms.data == .blob {
      try handle.bind(bytes: bytes, at: parameter)
    } else {
      try handle.bind(stored(forms), at: parameter)
    }
  }

  @inline(__always) static func read(
    from handle: StatementHandle, at column: Int32, _ forms: ScalarForms
  ) -> Data? { forms.data == .blob ? blob(in: handle, at: column) : nil }
}

extension Data {
  /// A copy of the bytes of a BLOB; nil if the column stores something else.
  package static func blob(in handle: StatementHandle, at column: Int32) -> Data? {
    var data: Data?
    handle.lendBytes(at: column, ofText: false) { bytes in
      data = unsafe bytes.withUnsafeBytes { buffer in
        guard let start = buffer.baseAddress else { return Data() }
        return unsafe Data(bytes: start, count: buffer.count)
      }
    }
    return data
  }
}
