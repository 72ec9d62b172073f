import SQLiteCore

/// The storage of one property's value, shared by all copies of an object. Opaque.
///
/// The properties of a fetched object live in its `ObjectStorage`, each in its slot. A property of an
/// object that the program has made lives on its own, until the object is saved.
public struct _MagicCell: Sendable {
  /// The object that a property belongs to.
  enum Owner: Sendable {
    /// A property of an object that was made and not fetched.
    case box(ValueBox)
    /// A fetched object that leads to no others.
    case storage(ObjectStorage)
    /// A fetched object that leads to others, as a row of the fetch.
    case row(FetchContext)
  }

  let owner: Owner
  let index: CellIndex

  init(_ owner: Owner, _ index: CellIndex) {
    self.owner = owner
    self.index = index
  }

  /// The first cell of an object that references no others.
  init(_ storage: ObjectStorage) { self.init(.storage(storage), CellIndex(slot: 0)) }

  /// Makes a cell for a property that is being declared.
  ///
  /// The type and the line are for the message about a value that was never set, which cannot name the
  /// property otherwise: the cell does not know its object.
  @usableFromInline package init(type: StaticString, line: UInt32) {
    self.init(.box(ValueBox(type: type, line: line)), CellIndex(slot: 0))
  }

  /// The storage of an object that was fetched.
  private var storage: ObjectStorage? {
    switch owner {
    case .box: nil
    case .storage(let storage): storage
    case .row(let context): context.storage(at: index)
    }
  }

  /// The value as the cell holds it.
  package var form: _CellValue.Form { read { $0 } }

  /// Lends the form of the value, which costs more to copy than to look at.
  @inline(__always)
  func read<Result: Sendable>(_ body: (_CellValue.Form) -> Result) -> Result {
    switch owner {
    case .box(let box): body(box.form)
    case .storage(let storage): storage.read(index.slot, body)
    case .row(let context): context.storage(at: index).read(index.slot, body)
    }
  }

  /// Keeps a value that was made of the stored one, which is no change.
  ///
  /// - Returns: The value that is kept: of several tasks the first one's.
  package func cache(_ live: _LiveValue) -> _LiveValue {
    if case .box(let box) = owner { return box.cache(live) }
    return storage?.cache(live, at: index.slot) ?? live
  }

  /// The storage, the slot and the fetch of the property if its object was saved or fetched.
  package var address: (storage: ObjectStorage, slot: Int, context: FetchContext?)? {
    switch owner {
    case .box(let box): box.address
    case .storage(let storage): (storage, index.slot, nil)
    case .row(let context): (context.storage(at: index), index.slot, context)
    }
  }

  /// The identity of the object's storage, or nil if it has none.
  var storageIdentifier: ObjectIdentifier? {
    switch owner {
    case .box(let box): box.storageIdentifier
    case .storage(let storage): ObjectIdentifier(storage)
    case .row(let context): ObjectIdentifier(context.storage(at: index))
    }
  }

  /// The cell of a property of the object whose first cell this is.
  @inline(__always)
  func at(_ slot: Int) -> _MagicCell { _MagicCell(owner, index.at(slot)) }

  /// Lets the cell lead to that of a storage from now on.
  ///
  /// - Returns: False if the cell is one of a fetched object, which keeps its storage.
  func bind(to cell: _MagicCell) -> Bool {
    guard case .box(let box) = owner else { return false }
    box.bind(to: cell)
    return true
  }

  /// The message for a value that was read before it was set.
  @usableFromInline func missing(_ value: Any.Type) -> String {
    switch owner {
    case .box(let box): box.missing(value)
    case .storage(let storage): storage.missing(index.slot)
    case .row(let context): context.storage(at: index).missing(index.slot)
    }
  }

  /// The identity of the property's object, or of the property itself as long as its object was never saved.
  var identity: ObjectIdentifier {
    switch owner {
    case .box(let box): ObjectIdentifier(box)
    case .storage(let storage): ObjectIdentifier(storage)
    case .row(let context): ObjectIdentifier(context.storage(at: index))
    }
  }
}

extension _MagicCell: Equatable {
  /// Returns whether both are the cell of one property of one object.
  public static func == (left: _MagicCell, right: _MagicCell) -> Bool {
    left.index.slot == right.index.slot && left.identity == right.identity
  }
}
