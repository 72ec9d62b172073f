/// The columns or parameters that the coding keys of one type stand for, found once per statement.
///
/// A key of one byte or none, which is what an enumeration is, is told by that byte alone. Others
/// are told by their name.
@safe final class KeySlots<Key: CodingKey> {
  /// The slot of a key that has no column or parameter.
  static var none: Int32 { -1 }
  private static var unknown: Int32 { -2 }

  /// By the key's byte; ``unknown`` where it was not looked up yet. An array would cost a check for
  /// exclusive access at each of its uses. Nil for keys of more bytes.
  let bytes: UnsafeMutablePointer<Int32>?
  private var names: [String: Int32] = [:]
  private let find: (Key) -> Int32

  /// Prepares to look keys up.
  ///
  /// - Parameter find: Returns what a key stands for, or ``none``.
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

  /// The only byte of a key. A value of one byte holds no reference, so its byte is all of it.
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

/// Which parameters have a value of the current row.
///
/// Memory of its own, since an array in a class costs a check for exclusive access at every use,
/// once for each value that is bound.
@safe final class BoundParameters {
  /// The current row first, then for each parameter the row in which it was bound last.
  private let rows: UnsafeMutableBufferPointer<Int>

  /// Prepares for parameters 1 to `count`.
  init(count: Int) {
    unsafe rows = .allocate(capacity: count + 1)
    unsafe rows.initialize(repeating: 0)
  }

  deinit {
    unsafe rows.deallocate()
  }

  /// Begins a row in which nothing is bound.
  func beginRow() {
    unsafe rows[0] += 1
  }

  /// Lends the parameters that have no value of this row.
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

/// The scalar types of columns or parameters, each found out when the first value of its type is met.
struct ScalarCache {
  private struct Entry {
    var type: ObjectIdentifier?
    var scalar: (any ScalarValue.Type)?
  }

  private var entries: [Entry]

  /// Prepares for the numbers below `count`.
  init(count: Int) {
    entries = Array(repeating: Entry(), count: count)
  }

  /// Returns a type as a scalar, or nil if it is none.
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
