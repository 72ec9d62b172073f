import SQLiteCore
import Synchronization

/// The value of one property of an object that the program has made.
///
/// The box holds the value itself until its object is saved. From then on the object's ``ObjectStorage`` holds the values
/// of all its properties, and the box has the cell of its property there.
final class ValueBox: Sendable {
  enum State {
    case own(_CellValue.Form)
    case bound(_MagicCell)
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

  /// The cell of the property in the object's storage, if the object was saved or fetched.
  private var bound: _MagicCell? {
    state.withLock { if case .bound(let cell) = $0 { cell } else { nil } }
  }

  var form: _CellValue.Form {
    switch state.withLock({ $0 }) {
    case .own(let form): form
    case .bound(let cell): cell.form
    }
  }

  /// Sets the value unless a storage holds it.
  ///
  /// - Returns: The cell in the storage that holds the value, by which the caller sets it.
  func set(_ form: _CellValue.Form) -> _MagicCell? {
    var other = State.own(form)
    return state.withLock { state in
      if case .bound(let cell) = state { return cell }
      swap(&state, &other)
      return nil
    }
  }

  /// Sets the value if there is none yet: of several tasks one is the first.
  func setFirst(_ form: _CellValue.Form) {
    state.withLock { state in
      if case .own(.unset) = state { state = .own(form) }
    }
  }

  /// A box of its own holds the value that was set.
  func cache(_ live: _LiveValue) -> _LiveValue { bound?.cache(live) ?? live }

  var address: (storage: ObjectStorage, slot: Int, context: FetchContext?)? { bound?.address }

  /// The identity of the object's storage, or nil if it has none.
  var storageIdentifier: ObjectIdentifier? {
    state.withLock { state in
      if case .bound(let cell) = state { cell.storageIdentifier } else { nil }
    }
  }

  func bind(to cell: _MagicCell) {
    var other = State.bound(cell)
    state.withLock { swap(&$0, &other) }
  }

  /// Leads to a cell of a storage from now on.
  ///
  /// - Returns: The value as the box held it, or nil if it leads to a storage already.
  func adopt(by cell: _MagicCell) -> _CellValue.Form? {
    var former = State.bound(cell)
    state.withLock { state in
      if case .own = state { swap(&state, &former) }
    }
    guard case .own(let form) = former else { return nil }
    return form
  }

  func missing(_ value: Any.Type) -> String {
    if let bound { return bound.missing(value) }
    return "the property of type \(value) that \(type) declares in line \(line) was read, "
      + "but it was never set"
  }
}
