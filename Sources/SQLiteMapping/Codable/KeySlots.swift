/// The columns or parameters of the coding keys of one type, looked up once per statement.
///
/// A key of at most one byte, such as a case of an enumeration, is identified by that byte. Other
/// keys are identified by their names.
@safe final class KeySlots<Key: CodingKey> {
  /// The slot of a key that has no column or parameter.
  static var none: Int32 { -1 }
  private static var unknown: Int32 { -2 }

  /// The slots of keys of at most one byte, indexed by that byte. A slot is ``unknown`` before the
  /// first lookup of its key. Nil if the keys are larger. An array would cost a check for exclusive
  /// access at each use.
  let bytes: UnsafeMutablePointer<Int32>?
  private var names: [String: Int32] = [:]
  private let find: (Key) -> Int32

  /// Creates slots that are filled when a key is first used.
  ///
  /// - Parameter find: Returns the column or parameter of a key, or ``none``.
  init(_ find: @escaping (Key) -> Int32) {
    self.find = find
    guard MemoryLayout<Key>.size <= 1 else {
      unsafe bytes = nil
      return
    }
    let bytes = UnsafeMutablePointer<Int32>.allocate(capacity: 256)
    unsafe bytes.initialize(repeating: Self.unknown, count: 256)
    unsafe self.bytes = unsafe bytes
  }

  deinit {
    unsafe bytes?.deallocate()
  }

  @inline(__always)
  subscript(key: Key) -> Int32 {
    guard let bytes = unsafe bytes else { return slot(named: key) }
    let slot = unsafe bytes[byte(of: key)]
    return slot == Self.unknown ? newSlot(of: key) : slot
  }

  /// Returns the only byte of a key, or 0 for a key of zero bytes. A value of one byte contains no
  /// reference, so the byte is the whole value.
  @inline(__always)
  private func byte(of key: Key) -> Int {
    MemoryLayout<Key>.size == 0 ? 0 : unsafe Int(unsafeBitCast(key, to: UInt8.self))
  }

  @inline(never)
  private func newSlot(of key: Key) -> Int32 {
    let slot = find(key)
    unsafe bytes?[byte(of: key)] = slot
    return slot
  }

  @inline(never)
  private func slot(named key: Key) -> Int32 {
    let name = key.stringValue
    if let slot = names[name] { return slot }
    let slot = find(key)
    names[name] = slot
    return slot
  }
}

/// The set of parameters that have a value in the current row.
///
/// It allocates its own memory, because an array in a class would cost a check for exclusive access
/// for each bound value.
@safe final class BoundParameters {
  /// The number of the current row, followed by the row in which each parameter was last bound.
  private let rows: UnsafeMutableBufferPointer<Int>

  /// Creates an empty set for parameters 1 to `count`.
  init(count: Int) {
    unsafe rows = .allocate(capacity: count + 1)
    unsafe rows.initialize(repeating: 0)
  }

  deinit {
    unsafe rows.deallocate()
  }

  /// Begins a row in which no parameter is bound yet.
  func beginRow() {
    unsafe rows[0] += 1
  }

  /// Calls `body` with each parameter that has no value in this row.
  @inline(__always)
  func forEachUnbound<Failure: Error>(_ body: (Int32) throws(Failure) -> Void) throws(Failure) {
    let row = unsafe rows[0]
    var index = 1
    while unsafe index < rows.count {
      if unsafe rows[index] != row { try body(Int32(truncatingIfNeeded: index)) }
      index += 1
    }
  }

  @inline(__always)
  subscript(parameter: Int32) -> Bool {
    get {
      let index = Int(parameter)
      return unsafe index > 0 && index < rows.count && rows[index] == rows[0]
    }
    set {
      let index = Int(parameter)
      guard unsafe index > 0 && index < rows.count else { return }
      unsafe rows[index] = newValue ? rows[0] : 0
    }
  }
}

/// A cache that stores, for each column or parameter, the type that was last used and whether it is
/// a scalar type. It avoids a dynamic cast for each value.
struct ScalarCache {
  private struct Entry {
    var type: ObjectIdentifier?
    var scalar: (any ScalarValue.Type)?
  }

  private var entries: [Entry]

  /// Creates an empty cache for columns or parameters with indexes below `count`.
  init(count: Int) {
    entries = Array(repeating: Entry(), count: count)
  }

  /// Returns `type` as a scalar type, or nil if it isn't one. Caches the result for the column or
  /// the parameter `index`.
  @inline(__always)
  mutating func scalar(of type: Any.Type, at index: Int32) -> (any ScalarValue.Type)? {
    let index = Int(index)
    guard index >= 0, index < entries.count else { return type as? any ScalarValue.Type }
    let entry = entries[index]
    return entry.type == ObjectIdentifier(type) ? entry.scalar : find(type, index)
  }

  @inline(never)
  private mutating func find(_ type: Any.Type, _ index: Int) -> (any ScalarValue.Type)? {
    let scalar = type as? any ScalarValue.Type
    entries[index] = Entry(type: ObjectIdentifier(type), scalar: scalar)
    return scalar
  }
}
