import SQLiteCore
import Synchronization

/// Where the value of one property lives, shared by all copies of an object. Opaque.
///
/// A cell holds the value itself until its object is saved or fetched; from then on the object's
/// ``ObjectStorage`` holds the values of all its properties, and the cell leads there.
public final class MagicCell: Sendable {
  private enum State {
    case own(CellContent.Form)
    case bound(ObjectStorage, slot: Int, FetchContext?)
  }

  private let state = Mutex(State.own(.unset))
  /// Where the property was declared, for the message about a value that was never set.
  private let type: StaticString
  private let line: UInt32

  package init(type: StaticString, line: UInt32) {
    self.type = type
    self.line = line
  }

  /// What the cell holds.
  package var form: CellContent.Form {
    switch state.withLock({ $0 }) {
    case .own(let form): form
    case .bound(let storage, let slot, _): storage[slot]
    }
  }

  /// Sets what the cell holds, as a change to be saved.
  package func set(_ form: CellContent.Form) {
    let bound = state.withLock { state -> (ObjectStorage, Int, FetchContext?)? in
      if case .bound(let storage, let slot, let context) = state { return (storage, slot, context) }
      state = .own(form)
      return nil
    }
    guard let (storage, slot, context) = bound else { return }
    let property = storage.plan.properties[slot]
    storage.set(context?.form(of: form, for: property) ?? form, at: slot)
  }

  /// Holds what has just been made of the content, which is no change.
  package func cache(_ live: LiveValue) {
    let bound = state.withLock { state -> (ObjectStorage, Int)? in
      if case .bound(let storage, let slot, _) = state { return (storage, slot) }
      state = .own(.live(live))
      return nil
    }
    if let (storage, slot) = bound { storage.cache(.live(live), at: slot) }
  }

  /// Where the object's values are, if it was saved or fetched.
  package var place: (storage: ObjectStorage, slot: Int, context: FetchContext?)? {
    if case .bound(let storage, let slot, let context) = state.withLock({ $0 }) {
      (storage, slot, context)
    } else {
      nil
    }
  }

  /// Leads to an object's storage from now on.
  package func bind(to storage: ObjectStorage, slot: Int, context: FetchContext?) {
    state.withLock { $0 = .bound(storage, slot: slot, context) }
  }

  /// The message for a value that was read before it was set.
  package func missing(_ value: Any.Type) -> String {
    if let (storage, slot, _) = place {
      return "\(storage.plan.typeName).\(storage.plan.properties[slot].name) was read, "
        + "but it was never set"
    }
    return "the property of type \(value) that \(type) declares in line \(line) was read, "
      + "but it was never set"
  }
}
