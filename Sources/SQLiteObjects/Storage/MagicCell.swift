import SQLiteCore

/// The storage of one property's value, shared by all copies of an object.
///
/// For internal use by the property wrappers. The properties of a fetched object are slots of its
/// `ObjectStorage`. Each property of an object that the program created has separate storage until
/// the object is saved.
public struct _MagicCell: Sendable {
  /// The instance through which a cell accesses its property's value.
  enum Owner: Sendable {
    /// The box of a property of an object that the program created.
    case box(ValueBox)
    /// The storage of a fetched object without eager relations.
    case storage(ObjectStorage)
    /// The context of a fetched object with eager relations. The cell's index identifies the
    /// object's row in it.
    case row(FetchContext)
  }

  let owner: Owner
  let index: CellIndex

  init(_ owner: Owner, _ index: CellIndex) {
    self.owner = owner
    self.index = index
  }

  /// Creates the cell of the first property of an object without eager relations. The cell
  /// references the object's storage directly.
  init(_ storage: ObjectStorage) { self.init(.storage(storage), CellIndex(slot: 0)) }

  /// Creates the cell of a property that is being declared.
  ///
  /// The cell has no reference to its object. The message about a value that was never set
  /// therefore can't contain the name of the property, and contains the type and the line of the
  /// declaration instead.
  @usableFromInline package init(type: StaticString, line: UInt32) {
    self.init(.box(ValueBox(type: type, line: line)), CellIndex(slot: 0))
  }

  /// The storage of a fetched object, or nil for an object that the program created.
  private var storage: ObjectStorage? {
    switch owner {
    case .box: nil
    case .storage(let storage): storage
    case .row(let context): context.storage(at: index)
    }
  }

  /// The value in the form in which the cell stores it.
  package var form: _CellValue.Form { read { $0 } }

  /// Calls `body` with the form of the value. Copying the form would cost more than inspecting it.
  @inline(__always)
  func read<Result: Sendable>(_ body: (_CellValue.Form) -> Result) -> Result {
    switch owner {
    case .box(let box): body(box.form)
    case .storage(let storage): storage.read(index.slot, body)
    case .row(let context): context.storage(at: index).read(index.slot, body)
    }
  }

  /// Caches a value that was created from the stored form. This isn't a change of the property.
  ///
  /// - Returns: The cached value. If several tasks call this method at the same time, all of them
  ///   receive the value of the first call.
  package func cache(_ live: _LiveValue) -> _LiveValue {
    if case .box(let box) = owner { return box.cache(live) }
    return storage?.cache(live, at: index.slot) ?? live
  }

  /// The storage, slot and context of the property, or nil if its object was neither saved nor
  /// fetched.
  package var address: (storage: ObjectStorage, slot: Int, context: FetchContext?)? {
    switch owner {
    case .box(let box): box.address
    case .storage(let storage): (storage, index.slot, nil)
    case .row(let context): (context.storage(at: index), index.slot, context)
    }
  }

  /// The identity of the object's storage, or nil if the object has no storage yet.
  var storageIdentifier: ObjectIdentifier? {
    switch owner {
    case .box(let box): box.storageIdentifier
    case .storage(let storage): ObjectIdentifier(storage)
    case .row(let context): ObjectIdentifier(context.storage(at: index))
    }
  }

  /// Returns the cell of another property of the same object. Call it on the object's first cell.
  @inline(__always)
  func at(_ slot: Int) -> _MagicCell { _MagicCell(owner, index.at(slot)) }

  /// Makes the cell forward to a cell of an object's storage from now on.
  ///
  /// - Returns: False if this cell belongs to a fetched object, which keeps its storage.
  func bind(to cell: _MagicCell) -> Bool {
    guard case .box(let box) = owner else { return false }
    box.bind(to: cell)
    return true
  }

  /// Returns the message with which the program stops if the property is read before it is set.
  @usableFromInline func missing(_ value: Any.Type) -> String {
    switch owner {
    case .box(let box): box.missing(value)
    case .storage(let storage): storage.missing(index.slot)
    case .row(let context): context.storage(at: index).missing(index.slot)
    }
  }

  /// The identity of the property's box, or of the storage of a fetched object.
  var identity: ObjectIdentifier {
    switch owner {
    case .box(let box): ObjectIdentifier(box)
    case .storage(let storage): ObjectIdentifier(storage)
    case .row(let context): ObjectIdentifier(context.storage(at: index))
    }
  }
}

extension _MagicCell: Equatable {
  /// Returns a Boolean value that indicates whether both cells belong to the same property of the
  /// same object.
  ///
  /// - Parameters:
  ///   - left: A cell.
  ///   - right: Another cell.
  /// - Returns: True if both cells access the same value.
  public static func == (left: _MagicCell, right: _MagicCell) -> Bool {
    left.index.slot == right.index.slot && left.identity == right.identity
  }
}
