import SQLiteCore
import Synchronization

/// The value of one property of an object that the program has made.
///
/// The box holds the value itself until its object is saved; from then on the object's
/// ``ObjectStorage`` holds the values of all its properties, and the box leads there.
final class ValueBox: Sendable {
  enum State {
    case own(CellValue.Form)
    case bound(ObjectStorage, slot: Int, FetchContext?)
  }

  /// A value's `deinit` may read the property: so no value is released while this is locked.
  private let state = Mutex(State.own(.unset))
  /// The declaration of the property, for the message about a value that was never set.
  let type: StaticString
  let line: UInt32

  init(type: StaticString, line: UInt32) {
    self.type = type
    self.line = line
  }

  deinit {
    IterativeRelease.forms(
      state.withLock { state in
        guard case .own(let form) = state, form.holdsOthers else { return [] }
        state = .own(.unset)
        return [form]
      })
  }

  var form: CellValue.Form {
    let (form, bound) = state.withLock { state -> (CellValue.Form, (ObjectStorage, Int)?) in
      switch state {
      case .own(let form): (form, nil)
      case .bound(let storage, let slot, _): (.unset, (storage, slot))
      }
    }
    if let (storage, slot) = bound { return storage[slot] }
    return form
  }

  /// Sets the value unless a storage holds it.
  ///
  /// - Returns: The storage that holds the value, in which the caller sets it.
  func set(
    _ form: CellValue.Form
  ) -> (storage: ObjectStorage, slot: Int, context: FetchContext?)? {
    var other = State.own(form)
    return state.withLock { state in
      if case .bound(let storage, let slot, let context) = state { return (storage, slot, context) }
      swap(&state, &other)
      return nil
    }
  }

  /// Sets the value if there is none yet: of several tasks one is the first.
  func setFirst(_ form: CellValue.Form) {
    state.withLock { state in
      if case .own(.unset) = state { state = .own(form) }
    }
  }

  func cache(_ live: LiveValue) -> LiveValue {
    let bound = state.withLock { state -> (ObjectStorage, Int)? in
      if case .bound(let storage, let slot, _) = state { return (storage, slot) }
      return nil
    }
    // A cell on its own holds the value that was set.
    return bound.map { storage, slot in storage.cache(live, at: slot) } ?? live
  }

  var address: (storage: ObjectStorage, slot: Int, context: FetchContext?)? {
    if case .bound(let storage, let slot, let context) = state.withLock({ $0 }) {
      (storage, slot, context)
    } else {
      nil
    }
  }

  /// The identity of the object's storage, or nil if it has none.
  var storageIdentifier: ObjectIdentifier? {
    state.withLock { state in
      if case .bound(let storage, _, _) = state { ObjectIdentifier(storage) } else { nil }
    }
  }

  func bind(to storage: ObjectStorage, slot: Int, context: FetchContext?) {
    var other = State.bound(storage, slot: slot, context)
    state.withLock { swap(&$0, &other) }
  }

  /// Exchanges the state for another one, unless the box references a storage already.
  func exchange(_ other: inout State) {
    state.withLock { state in
      if case .own = state { swap(&state, &other) }
    }
  }

  func missing(_ value: Any.Type) -> String {
    if let (storage, slot, _) = address { return storage.missing(slot) }
    return "the property of type \(value) that \(type) declares in line \(line) was read, "
      + "but it was never set"
  }
}
