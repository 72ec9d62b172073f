import Synchronization

/// The positions of the cells in an object's memory, for structs that are nothing but wrappers.
///
/// The cells of other types are found by the object's `encode(to:)`, which costs as much as saving it.
///
/// Proof that reading and making such memory is sound: a stored property is found by reflection, which
/// tells the type of its value. If that is a wrapper of this library, the property is either declared with
/// that type, which is one cell and nothing else, or as an existential, which is larger (but that of
/// an error, which no wrapper is). So if a struct has *n* stored properties whose values are wrappers of
/// one cell each, and the size of *n* cells, then each is declared as such, and the struct is *n* cells
/// one behind the other, without gaps since a cell's size is its stride. Which of them is which property
/// is found out by comparing them with the cells that the object encodes, which are all different, and
/// all *n* of them. Memory with *n* cells in it is therefore a value of the struct, as its memberwise
/// initializer would make it.
struct CellLayout: Sendable {
  /// The offset of each property's cell in bytes.
  let offsets: [Int]

  /// Looks at an object whose properties have been found.
  ///
  /// - Returns: Nil if the object is not known to be nothing but wrappers.
  fileprivate init?<Object: MagicObject>(
    _ object: Object, _ entries: [PropertyCollector.Entry]
  ) {
    let mirror = Mirror(reflecting: object)
    guard !(object is any CustomReflectable), mirror.displayStyle == .struct,
      mirror.superclassMirror == nil, mirror.children.count == entries.count,
      mirror.children.allSatisfy({
        type(of: $0.value) is any SingleCellProperty.Type && !($0.value is any Error)
      }),
      MemoryLayout<_MagicCell>.size == MemoryLayout<_MagicCell>.stride,
      MemoryLayout<Object>.size == mirror.children.count * MemoryLayout<_MagicCell>.size,
      MemoryLayout<Object>.alignment == MemoryLayout<_MagicCell>.alignment
    else { return nil }
    let all = (0..<mirror.children.count).map { $0 * MemoryLayout<_MagicCell>.stride }
    let cells = CellLayout(offsets: all).withCells(of: object) { found in
      all.indices.map { found[$0] }
    }
    let positions = entries.compactMap { entry in cells.firstIndex(of: entry.cell) }
    guard Set(positions).count == entries.count else { return nil }
    offsets = positions.map { all[$0] }
  }

  fileprivate init(offsets: [Int]) {
    self.offsets = offsets
  }

  /// Lends the cells of an object of the type that the layout was made for.
  func withCells<Object: MagicObject, Result>(
    of object: Object, _ body: (FoundCells) throws -> Result
  ) rethrows -> Result {
    try unsafe withUnsafePointer(to: object) { pointer in
      try body(unsafe FoundCells(UnsafeRawPointer(pointer), offsets))
    }
  }

  /// Lends the cells of the object of the type at an address.
  @unsafe func withCells<Result>(
    at object: UnsafeRawPointer, _ body: (FoundCells) throws -> Result
  ) rethrows -> Result {
    try body(unsafe FoundCells(object, offsets))
  }

  /// Lends the cells of each of the objects of the type that lie one behind the other.
  @unsafe func forEach(
    _ objects: UnsafeRawBufferPointer, _ body: (FoundCells) throws -> Void
  ) rethrows {
    let size = offsets.count * MemoryLayout<_MagicCell>.stride
    guard var start = objects.baseAddress else { return }
    for _ in 0..<objects.count / size {
      try body(unsafe FoundCells(start, offsets))
      unsafe start += size
    }
  }

  /// Makes an object of the type that the layout was made for, without its `init()`.
  ///
  /// - Parameters:
  ///   - memory: Room for the object.
  ///   - owner: The owner of the object's cells.
  ///   - index: The first property.
  @unsafe func initialize(
    _ memory: UnsafeMutableRawPointer, _ owner: _MagicCell.Owner, _ index: CellIndex
  ) {
    unsafe offsets.withUnsafeBufferPointer { offsets in
      var slot = 0
      // Four at once: their references to the owner are counted by one atomic addition (benchmark `fetch`).
      while slot + 4 <= offsets.count {
        unsafe Self.initialize(memory + offsets[slot], owner, index.at(slot))
        unsafe Self.initialize(memory + offsets[slot + 1], owner, index.at(slot + 1))
        unsafe Self.initialize(memory + offsets[slot + 2], owner, index.at(slot + 2))
        unsafe Self.initialize(memory + offsets[slot + 3], owner, index.at(slot + 3))
        slot += 4
      }
      while slot < offsets.count {
        unsafe Self.initialize(memory + offsets[slot], owner, index.at(slot))
        slot += 1
      }
    }
  }
}

extension CellLayout {
  @unsafe @inline(__always) private static func initialize(
    _ memory: UnsafeMutableRawPointer, _ owner: _MagicCell.Owner, _ index: CellIndex
  ) {
    unsafe memory.initializeMemory(as: _MagicCell.self, to: _MagicCell(owner, index))
  }
}

/// The cells of a type whose objects are nothing but wrappers, as its first object showed them: an object is asked for
/// its identity each time that it enters a set, and to encode it costs as much as saving it (benchmark `import`).
final class KnownCells: Sendable {
  let layout: CellLayout
  /// The primary property and its wrapper, if there is one.
  let primary: (slot: Int, type: any MagicProperty.Type)?

  private static let known = Mutex<[ObjectIdentifier: KnownCells?]>([:])

  private init?<Object: MagicObject>(_ object: Object) {
    guard let entries = try? PropertyCollector.entries(of: object), !entries.isEmpty,
      let layout = CellLayout(object, entries)
    else { return nil }
    self.layout = layout
    primary = entries.firstIndex { $0.type.role.isPrimary }.map { ($0, entries[$0].type) }
  }

  /// The cells of an object's type; nil if they must be found by encoding each object.
  static func of<Object: MagicObject>(_ object: Object) -> KnownCells? {
    let key = ObjectIdentifier(Object.self)
    if let known = known.withLock({ $0[key] }) { return known }
    let found = KnownCells(object)
    known.withLock { $0[key] = .some(found) }
    return found
  }
}

/// The cells of an object, in the order of its properties, lent to a closure that must not keep them.
@safe struct FoundCells {
  private let start: UnsafeRawPointer
  private let offsets: [Int]

  @unsafe fileprivate init(_ start: UnsafeRawPointer, _ offsets: [Int]) {
    unsafe self.start = start
    self.offsets = offsets
  }

  subscript(slot: Int) -> _MagicCell {
    @inline(__always) get { unsafe start.load(fromByteOffset: offsets[slot], as: _MagicCell.self) }
  }

  /// The identity of the object's storage, or nil if it has none.
  var storageIdentifier: ObjectIdentifier? {
    guard let box = unsafe box(0) else { return self[0].storageIdentifier }
    return unsafe box._withUnsafeGuaranteedRef { $0.storageIdentifier }
  }

  /// Lets the cell of a property that has no storage lead to that of one.
  ///
  /// - Returns: The value as the cell held it, or nil if it leads to a storage already.
  @inline(__always)
  func adopt(_ slot: Int, by cell: _MagicCell) -> _CellValue.Form? {
    guard let box = unsafe box(slot) else { return nil }
    return unsafe box._withUnsafeGuaranteedRef { $0.adopt(by: cell) }
  }

  /// The box of a property of an object that was made. It is not retained (benchmarks `insert` and `save-graph`): the
  /// memory holds it as long as it is lent.
  @inline(__always)
  private func box(_ slot: Int) -> Unmanaged<ValueBox>? {
    let cell = unsafe (start + offsets[slot]).assumingMemoryBound(to: _MagicCell.self)
    guard case .box(let box) = unsafe cell.pointee.owner else { return nil }
    return unsafe .passUnretained(box)
  }

  /// Lends cells that were found by encoding the object.
  static func with<Result>(
    _ cells: [_MagicCell], _ body: (FoundCells) throws -> Result
  ) rethrows -> Result? {
    try unsafe cells.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return nil }
      return try body(
        unsafe FoundCells(start, cells.indices.map { $0 * MemoryLayout<_MagicCell>.stride }))
    }
  }
}

extension ObjectStorage {
  /// Lets the cells of an object lead here from now on, and takes over what they hold.
  ///
  /// - Parameters:
  ///   - cells: The cells.
  ///   - copies: Gets a slot for each property if all cells lead here.
  ///   - context: The context that the cells hold, if the object needs one.
  /// - Returns: The number of cells until the first one that leads to another storage already.
  func adopt(_ cells: FoundCells, to copies: SlotCopies, in context: FetchContext?) -> Int {
    let cell = _MagicCell(context.map { .row($0) } ?? .storage(self), CellIndex(slot: 0))
    // A task that follows a cell that leads here already waits for the others.
    return withState { _, slots in
      for slot in 0..<slots.count {
        guard let form = cells.adopt(slot, by: cell.at(slot)) else { return slot }
        slots.fill(form, slot)
      }
      slots.copy(to: copies)
      return slots.count
    }
  }
}

/// A wrapper that is one cell in memory, and nothing else.
protocol SingleCellProperty {}

extension ObjectShape {
  /// The positions of the cells in an object's memory, if they are known.
  var layout: CellLayout? {
    // A shape has the offsets of the layout that was found for its type.
    cellOffsets.map { CellLayout(offsets: $0) }
  }

  /// Makes an object of a storage that leads to no others.
  ///
  /// - Throws: ``MagicError/unsuitableType(type:reason:)`` if its properties are not always the same.
  func object<Object: MagicObject>(_ type: Object.Type, of storage: ObjectStorage) throws -> Object
  {
    guard let layout else { return try bound(type, to: _MagicCell(storage)) }
    return try unsafe withUnsafeTemporaryAllocation(of: type, capacity: 1) { room in
      guard let object = room.baseAddress else { return try bound(type, to: _MagicCell(storage)) }
      unsafe layout.initialize(
        UnsafeMutableRawPointer(object), .storage(storage), CellIndex(slot: 0))
      return unsafe object.move()
    }
  }

  /// Makes objects of storages that lead to no others.
  ///
  /// - Throws: ``MagicError/unsuitableType(type:reason:)`` if their properties are not always the same.
  func objects<Object: MagicObject>(
    _ type: Object.Type, of storages: [ObjectStorage]
  ) throws -> [Object] {
    // See ``FetchContext/objects(_:_:)``.
    if storages.isEmpty { return [] }
    guard let layout else { return try storages.map { try bound(type, to: _MagicCell($0)) } }
    // They are made where they stay: appending an object of a type that is not known here costs as much
    // as making it.
    return unsafe Array(unsafeUninitializedCapacity: storages.count) { objects, count in
      guard var object = objects.baseAddress else { return }
      for storage in storages {
        unsafe layout.initialize(
          UnsafeMutableRawPointer(object), .storage(storage), CellIndex(slot: 0))
        unsafe object += 1
      }
      count = storages.count
    }
  }

  /// Makes an object by its `init()`, and lets its wrappers lead to the cells of a storage: its own `encode(to:)`
  /// says which of them leads where.
  ///
  /// - Parameters:
  ///   - type: The object's type.
  ///   - cell: The first cell.
  func bound<Object: MagicObject>(_ type: Object.Type, to cell: _MagicCell) throws -> Object {
    let object = Object()
    let count = try PropertyCollector.bind(object, to: cell, count: properties.count)
    guard count == properties.count else {
      throw MagicError.unsuitableType(
        type: typeName, reason: "its encode(to:) encodes different properties each time")
    }
    return object
  }
}
