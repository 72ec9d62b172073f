import SQLiteCore

/// One column of a query, with a function that reads it into memory. The function is chosen once
/// for all rows, because looking up the type for each row would take longer than reading the rest
/// of the row (benchmark `values`).
@safe struct ResultColumn<Result>: Sendable {
  let node: QueryNode
  /// A function that reads the column of a row and initializes memory with the result.
  let read: ReadingColumn

  /// Creates a column. If `Result` is `String`, `Int`, `Double` or an optional of these, values
  /// with the matching storage class are read directly. All others are read by `other`, which
  /// converts them or throws.
  init(
    _ node: QueryNode, orElse other: @escaping @Sendable (StatementHandle, Int32) throws -> Result
  ) {
    self.node = node
    let other: ReadingColumn = { row, column, memory in
      unsafe memory.initializeMemory(as: Result.self, to: try other(row, column))
    }
    let plain =
      unsafe PlainReading(String.self, if: Result.self, orElse: other)
      ?? PlainReading(Int.self, if: Result.self, orElse: other)
      ?? PlainReading(Double.self, if: Result.self, orElse: other)
    if let plain { unsafe read = plain.read } else { unsafe read = other }
  }

  /// Creates a column for a property.
  init<Object: MagicObject, Column: MagicColumn>(_ path: KeyPath<Object, Column>)
  where Column.Value == Result {
    self.init(QueryNode(path), orElse: { try Column.value(from: $0.value(at: $1)) })
  }

  /// Creates a column for the value of an expression, which may be nil.
  init<Object: MagicObject, Wrapped: Codable & SendableMetatype>(
    _ expression: MagicExpression<Object, Wrapped>
  ) where Result == Wrapped? {
    self.init(expression.node) {
      let stored = try $0.value(at: $1)
      return stored.isNull ? nil : try ColumnStorage.value(Wrapped.self, of: stored)
    }
  }

  /// Creates a column for the value of an aggregate.
  init<Object: MagicObject>(_ aggregate: Aggregate<Object, Result>) {
    self.init(aggregate.node) { [result = aggregate.result] in try result($0.value(at: $1)) }
  }
}

/// A function that reads a column of a row, and initializes memory with the value.
typealias ReadingColumn =
  @Sendable (_ row: StatementHandle, _ column: Int32, _ memory: UnsafeMutableRawPointer) throws ->
  Void

/// A type that SQLite stores without conversion.
private protocol PlainValue: SendableMetatype {
  static func plain(_ row: StatementHandle, at column: Int32) -> Self?
}

extension String: PlainValue {
  fileprivate static func plain(_ row: StatementHandle, at column: Int32) -> String? {
    row.text(at: column)
  }
}

extension Int: PlainValue {
  fileprivate static func plain(_ row: StatementHandle, at column: Int32) -> Int? {
    row.integer(at: column).flatMap { Int(exactly: $0) }
  }
}

extension Double: PlainValue {
  fileprivate static func plain(_ row: StatementHandle, at column: Int32) -> Double? {
    row.real(at: column)
  }
}

/// A function that reads a result of type `Plain` or `Plain?`.
///
/// It is specialized for each type, because generic code would look up type metadata for each row.
/// It is a struct with a failable initializer, because each call of an optional closure would take
/// two additional calls.
@safe private struct PlainReading {
  let read: ReadingColumn

  init?<Plain: PlainValue>(
    _ type: Plain.Type, if result: Any.Type, orElse other: @escaping ReadingColumn
  ) {
    if result == Plain.self {
      unsafe read = { row, column, memory in
        guard let value = Plain.plain(row, at: column) else {
          return try unsafe other(row, column, memory)
        }
        unsafe memory.initializeMemory(as: Plain.self, to: value)
      }
    } else if result == Plain?.self {
      unsafe read = { row, column, memory in
        let value = Plain.plain(row, at: column)
        guard value != nil || row.isNull(at: column) else {
          return try unsafe other(row, column, memory)
        }
        unsafe memory.initializeMemory(as: Plain?.self, to: value)
      }
    } else {
      return nil
    }
  }
}

/// An array of tuples into which rows are read in place.
///
/// It uses only the size of a tuple, and functions that read, move and destroy it, so no generic
/// code runs for each row (benchmarks `values` and `groups`).
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

  /// Reads the current row of a statement and appends it as a tuple.
  mutating func append(_ row: StatementHandle) throws {
    if count == capacity { grow() }
    try unsafe columns.read(row, into: memory + count * stride)
    count += 1
  }

  /// Moves the rows into an array, and consumes this value.
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

/// An element of a tuple, and the function that reads it from a column.
@safe struct TupleColumn: Sendable {
  /// The offset of the element in the tuple.
  var offset: Int
  fileprivate let read: ReadingColumn
  fileprivate let type: Any.Type

  /// Destroys the element. This is needed if a later column of the row can't be read.
  @unsafe fileprivate func destroy(_ memory: UnsafeMutableRawPointer) {
    func destroy<Element>(_: Element.Type) {
      unsafe memory.assumingMemoryBound(to: Element.self).deinitialize(count: 1)
    }
    _openExistential(type, do: destroy)
  }
}

extension [TupleColumn] {
  /// Initializes memory for a tuple with the columns of a row. If it throws, no element remains
  /// initialized.
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

  /// Returns a row as a tuple.
  func tuple<Tuple>(_ row: StatementHandle, as _: Tuple.Type) throws -> Tuple {
    try unsafe withUnsafeTemporaryAllocation(of: Tuple.self, capacity: 1) { room in
      guard let start = room.baseAddress else {
        throw SQLiteError(.outOfMemory, "out of memory for a row")
      }
      try unsafe read(row, into: UnsafeMutableRawPointer(start))
      return unsafe start.move()
    }
  }
}

/// The memory layout of a tuple: its elements in order, each aligned for its type. See "Tuple
/// Metadata" in Swift's ABI documentation. A test compares it with the layout of real tuples.
struct TupleLayout: Sendable {
  private(set) var nodes: [QueryNode] = []
  private(set) var columns: [TupleColumn] = []
  private var size = 0
  private var alignment = 1

  /// Creates the layout of a tuple.
  init<each Result>(_ columns: repeat ResultColumn<each Result>) {
    for column in repeat each columns { append(column) }
  }

  /// Creates the layout of one tuple with the elements of two packs.
  init<each Result, each Other>(
    _ columns: repeat ResultColumn<each Result>, and others: repeat ResultColumn<each Other>
  ) {
    for column in repeat each columns { append(column) }
    for column in repeat each others { append(column) }
  }

  /// Creates the layout of a pair of tuples.
  init(_ first: TupleLayout, _ second: TupleLayout) {
    let start = first.size.aligned(to: second.alignment)
    nodes = first.nodes + second.nodes
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

  private mutating func append<Result>(_ column: ResultColumn<Result>) {
    let offset = size.aligned(to: MemoryLayout<Result>.alignment)
    nodes.append(column.node)
    columns.append(unsafe TupleColumn(offset: offset, read: column.read, type: Result.self))
    size = offset + MemoryLayout<Result>.size
    alignment = Swift.max(alignment, MemoryLayout<Result>.alignment)
  }
}

extension Int {
  /// Returns the number, rounded up to a multiple of an alignment.
  fileprivate func aligned(to alignment: Int) -> Int {
    (self + alignment - 1) / alignment * alignment
  }
}
