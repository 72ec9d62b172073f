import Synchronization

/// The offsets of the cells in the memory of an object that is a struct of wrappers only.
///
/// In objects of other types, the cells are found through `encode(to:)`, which takes as long as
/// saving the object.
///
/// Proof that reading and creating such memory is sound: reflection finds each stored property and
/// the type of its value. If that is a wrapper of this library, the property is declared either
/// with this type, which is exactly one cell, or as an existential, which is larger (except `any
/// Error`, to which no wrapper conforms). So if a struct has *n* stored properties whose values are
/// wrappers of one cell each, and the size of *n* cells, then each is declared with such a type.
/// The struct is *n* contiguous cells, without gaps, since a cell's size is its stride. The object
/// encodes *n* different cells. Comparing them with those in memory shows which cell belongs to
/// which property. Memory that contains *n* cells is therefore a value of the struct, as its
/// memberwise initializer would create it.
struct CellLayout: Sendable {
  /// The offset in bytes of each property's cell in the memory of an object.
  let offsets: [Int]

  /// Creates the layout of a type from one of its objects and the properties that this object
  /// encodes.
  ///
  /// - Returns: Nil if the struct may contain anything but wrappers.
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

  /// Calls `body` with the cells of an object. The object must be of the layout's type.
  func withCells<Object: MagicObject, Result>(
    of object: Object, _ body: (BorrowedCells) throws -> Result
  ) rethrows -> Result {
    try unsafe withUnsafePointer(to: object) { pointer in
      try body(unsafe BorrowedCells(UnsafeRawPointer(pointer), offsets))
    }
  }

  /// Calls `body` with the cells of the object at an address. The object must be of the layout's
  /// type.
  @unsafe func withCells<Result>(
    at object: UnsafeRawPointer, _ body: (BorrowedCells) throws -> Result
  ) rethrows -> Result {
    try body(unsafe BorrowedCells(object, offsets))
  }

  /// Calls `body` with the cells of each object in contiguous memory. The objects must be of the
  /// layout's type.
  @unsafe func forEach(
    _ objects: UnsafeRawBufferPointer, _ body: (BorrowedCells) throws -> Void
  ) rethrows {
    let size = offsets.count * MemoryLayout<_MagicCell>.stride
    guard var start = objects.baseAddress else { return }
    for _ in 0..<objects.count / size {
      try body(unsafe BorrowedCells(start, offsets))
      unsafe start += size
    }
  }

  /// Initializes memory with an object of the layout's type, without its `init()`.
  ///
  /// - Parameters:
  ///   - memory: Uninitialized memory for the object.
  ///   - owner: The owner of the object's cells.
  ///   - index: The index of the first property.
  @unsafe func initialize(
    _ memory: UnsafeMutableRawPointer, _ owner: _MagicCell.Owner, _ index: CellIndex
  ) {
    unsafe offsets.withUnsafeBufferPointer { offsets in
      var slot = 0
      // Four at a time, so that one atomic addition retains the owner for all of them (benchmark
      // `fetch`).
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

/// The layout of a type of structs that contain only wrappers, determined from its first object.
///
/// A set reads the identity of each object that is inserted. Finding the object's cells by encoding
/// the object would take as long as saving it (benchmark `import`).
final class WrapperLayout: Sendable {
  let layout: CellLayout
  /// The slot of the primary property and the type of its wrapper, or nil if there is none.
  let primary: (slot: Int, type: any MagicProperty.Type)?

  private static let known = Mutex<[ObjectIdentifier: WrapperLayout?]>([:])

  private init?<Object: MagicObject>(_ object: Object) {
    guard let entries = try? PropertyCollector.entries(of: object), !entries.isEmpty,
      let layout = CellLayout(object, entries)
    else { return nil }
    self.layout = layout
    primary = entries.firstIndex { $0.type.role.isPrimary }.map { ($0, entries[$0].type) }
  }

  /// Returns the layout of an object's type, or nil if the cells must be found by encoding each
  /// object.
  static func of<Object: MagicObject>(_ object: Object) -> WrapperLayout? {
    let key = ObjectIdentifier(Object.self)
    if let known = known.withLock({ $0[key] }) { return known }
    let found = WrapperLayout(object)
    known.withLock { $0[key] = .some(found) }
    return found
  }
}

/// The cells of an object in the order of its properties, borrowed from the object's memory. They
/// are valid only inside the closure that receives them.
@safe struct BorrowedCells {
  private let start: UnsafeRawPointer
  private let offsets: [Int]

  @unsafe fileprivate init(_ start: UnsafeRawPointer, _ offsets: [Int]) {
    unsafe self.start = start
    self.offsets = offsets
  }

  subscript(slot: Int) -> _MagicCell {
    @inline(__always) get { unsafe start.load(fromByteOffset: offsets[slot], as: _MagicCell.self) }
  }

  /// The identity of the object's storage, or nil if the object has no storage yet.
  var storageIdentifier: ObjectIdentifier? {
    guard let box = unsafe box(0) else { return self[0].storageIdentifier }
    return unsafe box._withUnsafeGuaranteedRef { $0.storageIdentifier }
  }

  /// Makes the cell of a property forward to the cell of a storage, unless the property's cell
  /// already belongs to a storage.
  ///
  /// - Returns: The value that the property's cell held, or nil if that cell already belongs to a
  ///   storage.
  @inline(__always)
  func adopt(_ slot: Int, by cell: _MagicCell) -> _CellValue.Form? {
    guard let box = unsafe box(slot) else { return nil }
    return unsafe box._withUnsafeGuaranteedRef { $0.adopt(by: cell) }
  }

  /// Returns the box of a property, or nil if the program didn't create the object and the property
  /// therefore has no box. The box isn't retained (benchmarks `insert` and `save-graph`), because
  /// the borrowed memory holds it.
  @inline(__always)
  private func box(_ slot: Int) -> Unmanaged<ValueBox>? {
    let cell = unsafe (start + offsets[slot]).assumingMemoryBound(to: _MagicCell.self)
    guard case .box(let box) = unsafe cell.pointee.owner else { return nil }
    return unsafe .passUnretained(box)
  }

  /// Calls `body` with cells that were found by encoding the object.
  ///
  /// - Returns: The result of `body`, or nil if there are no cells.
  static func with<Result>(
    _ cells: [_MagicCell], _ body: (BorrowedCells) throws -> Result
  ) rethrows -> Result? {
    try unsafe cells.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return nil }
      return try body(
        unsafe BorrowedCells(start, cells.indices.map { $0 * MemoryLayout<_MagicCell>.stride }))
    }
  }
}

extension ObjectStorage {
  /// Moves the values of an object's cells to this storage and makes the cells forward to it, in
  /// the order of the slots. Stops at the first cell that already belongs to another storage.
  ///
  /// - Parameters:
  ///   - cells: The cells.
  ///   - copies: Receives a copy of each slot if all cells were adopted.
  ///   - context: The context that the cells hold, if the object needs one.
  /// - Returns: The number of adopted cells.
  func adopt(_ cells: BorrowedCells, to copies: SlotCopies, in context: FetchContext?) -> Int {
    let cell = _MagicCell(context.map { .row($0) } ?? .storage(self), CellIndex(slot: 0))
    // Another task that follows a cell to this storage waits for the lock, and then finds all
    // values.
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

/// A wrapper that is exactly one cell in memory.
protocol SingleCellProperty {}

extension ObjectShape {
  /// The layout of an object's memory, or nil if the type may not consist of cells only.
  var layout: CellLayout? {
    // The offsets in a shape come from the layout that was found for its type.
    cellOffsets.map { CellLayout(offsets: $0) }
  }

  /// Creates an object without eager relations from its storage.
  ///
  /// - Throws: ``MagicError/unsuitableType(type:reason:)`` if the type encodes different properties
  ///   each time.
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

  /// Creates objects without eager relations from their storages.
  ///
  /// - Throws: ``MagicError/unsuitableType(type:reason:)`` if the type encodes different properties
  ///   each time.
  func objects<Object: MagicObject>(
    _ type: Object.Type, of storages: [ObjectStorage]
  ) throws -> [Object] {
    // See ``FetchContext/objects(_:_:)``.
    if storages.isEmpty { return [] }
    guard let layout else { return try storages.map { try bound(type, to: _MagicCell($0)) } }
    // The objects are created in place: appending an object of a generic type takes as long as
    // creating it.
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

  /// Creates an object with its `init()`, and makes its wrappers forward to the cells of a storage,
  /// in the order in which its `encode(to:)` encodes them.
  ///
  /// - Parameters:
  ///   - type: The object's type.
  ///   - cell: The cell of the first property.
  /// - Throws: ``MagicError/unsuitableType(type:reason:)`` if the type encodes different properties
  ///   each time.
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
