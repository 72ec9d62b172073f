import SQLiteCore

/// Where the value of one property lives, shared by all copies of an object. Opaque.
///
/// The properties of a fetched object live in its ``ObjectStorage``, at their places. A property of an
/// object that somebody made lives on its own, until the object is saved.
public struct MagicCell: Sendable {
  /// What a property's value belongs to.
  enum Owner: Sendable {
    /// A property of an object that was made and not fetched.
    case own(OwnCell)
    /// A fetched object that leads to no others.
    case object(ObjectStorage)
    /// A fetched object, with what the fetch brought besides.
    case related(RelatedStorage)
  }

  let owner: Owner
  /// The property's place in the object.
  let slot: Int

  init(_ owner: Owner, _ slot: Int) {
    self.owner = owner
    self.slot = slot
  }

  /// Makes a place for a property that is being declared: the next one of the object that the library
  /// is making, else one of its own.
  @usableFromInline package init(type: StaticString, line: UInt32) {
    self = Construction.cell(type, line)
  }

  /// The storage of an object that was fetched.
  private var storage: ObjectStorage? {
    switch owner {
    case .own: nil
    case .object(let storage): storage
    case .related(let related): related.storage
    }
  }

  /// What the cell holds.
  package var form: CellContent.Form { read { $0 } }

  /// Lends what the cell holds: most of it costs more to copy than to look at.
  @inline(__always)
  func read<Result>(_ body: (CellContent.Form) -> Result) -> Result {
    switch owner {
    case .own(let cell): body(cell.form)
    case .object(let storage): storage.read(slot, body)
    case .related(let related): related.storage.read(slot, body)
    }
  }

  /// Sets what the cell holds, as a change to be saved.
  package func set(_ form: CellContent.Form) {
    switch owner {
    case .own(let cell): cell.set(form)
    case .object(let storage):
      if !Construction.set(form, of: storage, slot) { storage.set(form, at: slot) }
    case .related(let related):
      if !Construction.set(form, of: related.storage, slot) { related.set(form, at: slot) }
    }
  }

  /// Sets what the cell holds, if it holds nothing yet.
  func setFirst(_ form: CellContent.Form) {
    if case .own(let cell) = owner {
      cell.setFirst(form)
    } else if case .unset = self.form {
      set(form)
    }
  }

  /// Holds what has just been made of the content, which is no change.
  ///
  /// - Returns: What it holds: of several tasks one is the first.
  package func cache(_ live: LiveValue) -> LiveValue {
    if case .own(let cell) = owner { return cell.cache(live) }
    guard let storage, !Construction.set(.live(live), of: storage, slot) else { return live }
    return storage.cache(live, at: slot)
  }

  /// Where the object's values are, if it was saved or fetched.
  package var place: (storage: ObjectStorage, slot: Int, context: FetchContext?)? {
    switch owner {
    case .own(let cell): return cell.place
    case .object(let storage):
      return Construction.isMaking(storage) ? nil : (storage, slot, nil)
    case .related(let related):
      return Construction.isMaking(related.storage)
        ? nil : (related.storage, slot, related.context)
    }
  }

  /// Leads to a saved object's storage from now on.
  ///
  /// - Returns: False if the cell is one of a fetched object, which leads where it leads.
  package func bind(to storage: ObjectStorage, slot: Int, context: FetchContext?) -> Bool {
    guard case .own(let cell) = owner else { return false }
    cell.bind(to: storage, slot: slot, context: context)
    return true
  }

  /// The message for a value that was read before it was set.
  @usableFromInline func missing(_ value: Any.Type) -> String {
    switch owner {
    case .own(let cell): cell.missing(value)
    case .object(let storage): storage.missing(slot)
    case .related(let related): related.storage.missing(slot)
    }
  }

  /// What tells the property's object apart from others, or the property itself as long as it is on
  /// its own.
  var identity: ObjectIdentifier {
    switch owner {
    case .own(let cell): ObjectIdentifier(cell)
    case .object(let storage): ObjectIdentifier(storage)
    case .related(let related): ObjectIdentifier(related.storage)
    }
  }
}

extension MagicCell: Equatable {
  /// Says whether both are the place of one property of one object.
  public static func == (left: MagicCell, right: MagicCell) -> Bool {
    left.slot == right.slot && left.identity == right.identity
  }
}
