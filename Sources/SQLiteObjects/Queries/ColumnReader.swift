import SQLiteCore

/// Reads one column of a query, and writes it where it is wanted. The way is decided once for all rows: a type
/// that is only known at run time would cost more at each row than the row (benchmark `values`).
@safe struct ColumnReader<Result>: Sendable {
  /// Initializes memory for a result.
  let read: ReadingColumn

  /// Reads by `other`.
  private init(
    slowly other: @escaping @Sendable (_ row: StatementHandle, _ column: Int32) throws -> Result
  ) {
    unsafe read = { row, column, memory in
      unsafe memory.initializeMemory(as: Result.self, to: try other(row, column))
    }
  }
}

/// Reads a column of a row, and initializes memory with the value.
typealias ReadingColumn =
  @Sendable (_ row: StatementHandle, _ column: Int32, _ memory: UnsafeMutableRawPointer) throws ->
  Void

extension ColumnReader {
  /// Reads the column of a property.
  init<Column: MagicColumn>(_ column: Column.Type) where Column.Value == Result {
    self.init(orElse: { try Column.value(from: $0.value(at: $1)) })
  }

  /// Reads the value of an expression, which may be nil.
  init<Wrapped: Codable & SendableMetatype>(_ type: Wrapped.Type) where Result == Wrapped? {
    self.init(orElse: {
      let stored = try $0.value(at: $1)
      return stored.isNull ? nil : try Storage.value(Wrapped.self, of: stored)
    })
  }

  /// Reads a plain type as SQLite has it, and else by `other`, which converts or refuses.
  ///
  /// Each plain type is spelled out: code for any of them would ask for its metadata at each row.
  init(orElse other: @escaping @Sendable (StatementHandle, Int32) throws -> Result) {
    let other = unsafe ColumnReader(slowly: other).read
    if Result.self == String.self {
      unsafe read = { row, column, memory in
        guard let value = row.text(at: column) else {
          return try unsafe other(row, column, memory)
        }
        unsafe memory.initializeMemory(as: String.self, to: value)
      }
    } else if Result.self == String?.self {
      unsafe read = { row, column, memory in
        let value = row.text(at: column)
        guard value != nil || row.isNull(at: column) else {
          return try unsafe other(row, column, memory)
        }
        unsafe memory.initializeMemory(as: String?.self, to: value)
      }
    } else if Result.self == Int.self {
      unsafe read = { row, column, memory in
        guard let value = row.integer(at: column).flatMap({ Int(exactly: $0) }) else {
          return try unsafe other(row, column, memory)
        }
        unsafe memory.initializeMemory(as: Int.self, to: value)
      }
    } else if Result.self == Int?.self {
      unsafe read = { row, column, memory in
        let value = row.integer(at: column).flatMap({ Int(exactly: $0) })
        guard value != nil || row.isNull(at: column) else {
          return try unsafe other(row, column, memory)
        }
        unsafe memory.initializeMemory(as: Int?.self, to: value)
      }
    } else if Result.self == Double.self {
      unsafe read = { row, column, memory in
        guard let value = row.real(at: column) else {
          return try unsafe other(row, column, memory)
        }
        unsafe memory.initializeMemory(as: Double.self, to: value)
      }
    } else if Result.self == Double?.self {
      unsafe read = { row, column, memory in
        let value = row.real(at: column)
        guard value != nil || row.isNull(at: column) else {
          return try unsafe other(row, column, memory)
        }
        unsafe memory.initializeMemory(as: Double?.self, to: value)
      }
    } else {
      unsafe read = other
    }
  }
}

/// Rows that are read into tuples where these lie.
///
/// It knows the tuple only by its size and by what moves and destroys tuples: what runs at each row is no code
/// for any type (benchmarks `values` and `groups`).
@safe struct TupleRows<Tuple>: ~Copyable {
  private let columns: [TupleColumn]
  private let stride: Int
  private var memory: UnsafeMutableRawPointer
  private var capacity = 16
  private var count = 0

  init(_ columns: [TupleColumn]) {
    self.columns = columns
    stride = MemoryLayout<Tuple>.stride
    unsafe memory = TupleRows.allocate(capacity)
  }

  deinit {
    unsafe memory.assumingMemoryBound(to: Tuple.self).deinitialize(count: count)
    unsafe memory.deallocate()
  }

  /// Appends the row that a statement stands on.
  mutating func append(_ row: StatementHandle) throws {
    if count == capacity { grow() }
    try unsafe columns.read(row, into: memory + count * stride)
    count += 1
  }

  /// Moves the rows into an array.
  consuming func array() -> [Tuple] {
    let (memory, count) = unsafe (memory, count)
    self.count = 0
    return unsafe Array(unsafeUninitializedCapacity: count) { buffer, filled in
      if let start = buffer.baseAddress {
        unsafe start.moveInitialize(
          from: memory.assumingMemoryBound(to: Tuple.self), count: count)
      }
      filled = count
    }
  }

  private mutating func grow() {
    let larger = unsafe TupleRows.allocate(capacity * 2)
    unsafe larger.assumingMemoryBound(to: Tuple.self)
      .moveInitialize(from: memory.assumingMemoryBound(to: Tuple.self), count: count)
    unsafe memory.deallocate()
    unsafe memory = larger
    capacity *= 2
  }

  private static func allocate(_ capacity: Int) -> UnsafeMutableRawPointer {
    UnsafeMutableRawPointer.allocate(
      byteCount: Swift.max(1, capacity * MemoryLayout<Tuple>.stride),
      alignment: MemoryLayout<Tuple>.alignment)
  }
}

/// An element of a tuple that is read from a column.
@safe struct TupleColumn: Sendable {
  /// The element's distance from the start of the tuple.
  var offset: Int
  fileprivate let read: ReadingColumn
  /// Destroys the element, if the columns behind it cannot be read.
  fileprivate let destroy: @Sendable (_ memory: UnsafeMutableRawPointer) -> Void
}

extension [TupleColumn] {
  /// Initializes memory for a tuple with the columns of a row.
  fileprivate func read(_ row: StatementHandle, into memory: UnsafeMutableRawPointer) throws {
    var index = 0
    do {
      while index < count {
        try unsafe self[index].read(
          row, Int32(truncatingIfNeeded: index), memory + self[index].offset)
        index += 1
      }
    } catch {
      for column in self[..<index] { unsafe column.destroy(memory + column.offset) }
      throw error
    }
  }

  /// Reads a row as a tuple.
  func tuple<Tuple>(_ row: StatementHandle, as _: Tuple.Type) throws -> Tuple {
    try unsafe withUnsafeTemporaryAllocation(of: Tuple.self, capacity: 1) { room in
      guard let start = room.baseAddress else {
        throw SQLiteError(.outOfMemory, "there is no memory for a row")
      }
      try unsafe read(row, into: UnsafeMutableRawPointer(start))
      return unsafe start.move()
    }
  }
}

/// The layout of a tuple: its elements one after the other, each aligned for its type. (Swift's ABI, "Tuple
/// Metadata"; a test compares it with tuples of many types.)
struct TupleLayout: Sendable {
  private(set) var columns: [TupleColumn] = []
  private var size = 0
  private var alignment = 1

  /// Lays out a tuple of elements.
  init<each Result>(_ readers: repeat ColumnReader<each Result>) {
    for reader in repeat each readers { append(reader) }
  }

  /// Lays out a tuple of elements and further ones behind them.
  init<each Result, each Other>(
    _ readers: repeat ColumnReader<each Result>, and others: repeat ColumnReader<each Other>
  ) {
    for reader in repeat each readers { append(reader) }
    for reader in repeat each others { append(reader) }
  }

  /// Lays out a pair of tuples.
  init(_ first: TupleLayout, _ second: TupleLayout) {
    let start = first.size.aligned(to: second.alignment)
    columns =
      first.columns
      + second.columns.map { column in
        var column = column
        column.offset += start
        return column
      }
    size = start + second.size
    alignment = Swift.max(first.alignment, second.alignment)
  }

  private mutating func append<Result>(_ reader: ColumnReader<Result>) {
    let offset = size.aligned(to: MemoryLayout<Result>.alignment)
    columns.append(
      unsafe TupleColumn(offset: offset, read: reader.read) {
        unsafe $0.assumingMemoryBound(to: Result.self).deinitialize(count: 1)
      })
    size = offset + MemoryLayout<Result>.size
    alignment = Swift.max(alignment, MemoryLayout<Result>.alignment)
  }
}

extension Int {
  /// The next multiple of an alignment.
  fileprivate func aligned(to alignment: Int) -> Int {
    (self + alignment - 1) / alignment * alignment
  }
}
