/// Where the cells of an object's wrappers are in its memory, for types that are nothing but wrappers.
///
/// Elsewhere they are found by the object's `encode(to:)`, which costs as much as saving it.
///
/// Why reading them is sound: a stored property is found by reflection, which tells the type of its
/// value. If that is a wrapper of this library, the property is either declared with that type, which
/// is one cell and nothing else, or as an existential, which is larger. So if a struct has *n* stored
/// properties whose values are wrappers of one cell each, and the size of *n* cells, then each is
/// declared as such, and the struct is *n* cells one behind the other, without gaps since a cell's size
/// is its stride. Which of them is which property is found out by comparing them with the cells that
/// the object encodes, which are all different.
struct CellLayout: Sendable {
  /// For each property the number of cells before its own.
  private let positions: [Int]

  /// Looks at an object whose properties have been found.
  ///
  /// - Returns: Nil if the object is not known to be nothing but wrappers.
  init?<Object: MagicObject>(_ object: Object, _ entries: [PropertyCollector.Entry]) {
    let mirror = Mirror(reflecting: object)
    guard !(object is any CustomReflectable), mirror.displayStyle == .struct,
      mirror.superclassMirror == nil,
      mirror.children.allSatisfy({ type(of: $0.value) is any SingleCellProperty.Type }),
      MemoryLayout<MagicCell>.size == MemoryLayout<MagicCell>.stride,
      MemoryLayout<Object>.size == mirror.children.count * MemoryLayout<MagicCell>.size,
      MemoryLayout<Object>.alignment == MemoryLayout<MagicCell>.alignment
    else { return nil }
    let cells = (0..<mirror.children.count).map { CellLayout.cell(of: object, $0) }
    let positions = entries.compactMap { entry in cells.firstIndex(of: entry.cell) }
    guard Set(positions).count == entries.count else { return nil }
    self.positions = positions
  }

  /// Lends the cells of an object of the type that the layout was made for.
  func withCells<Object: MagicObject, Result>(
    of object: Object, _ body: (FoundCells) throws -> Result
  ) rethrows -> Result {
    try unsafe withUnsafePointer(to: object) { pointer in
      try body(unsafe FoundCells(UnsafeRawPointer(pointer), positions))
    }
  }

  private static func cell<Object: MagicObject>(of object: Object, _ position: Int) -> MagicCell {
    unsafe withUnsafePointer(to: object) { pointer in
      unsafe FoundCells(UnsafeRawPointer(pointer), [position])[0]
    }
  }
}

/// The cells of an object, in the order of its properties, lent to a closure that must not keep them.
@safe struct FoundCells {
  private let start: UnsafeRawPointer
  private let positions: [Int]

  @unsafe fileprivate init(_ start: UnsafeRawPointer, _ positions: [Int]) {
    unsafe self.start = start
    self.positions = positions
  }

  subscript(slot: Int) -> MagicCell {
    unsafe start.load(
      fromByteOffset: positions[slot] * MemoryLayout<MagicCell>.stride, as: MagicCell.self)
  }

  /// Lends cells that were found otherwise.
  static func with<Result>(
    _ cells: [MagicCell], _ body: (FoundCells) throws -> Result
  ) rethrows -> Result? {
    try unsafe cells.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return nil }
      return try body(unsafe FoundCells(start, Array(cells.indices)))
    }
  }
}

/// A wrapper that is one cell in memory, and nothing else.
private protocol SingleCellProperty {}

extension MagicValue: SingleCellProperty {}
extension OptionMagicValue: SingleCellProperty {}
extension PrimaryMagicValue: SingleCellProperty {}
