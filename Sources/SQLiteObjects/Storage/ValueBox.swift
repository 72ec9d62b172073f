import SQLiteCore
import Synchronization

/// The value of one property of an object that the program created.
///
/// The box stores the value until the object is saved. The save moves the values of all properties
/// to the object's ``ObjectStorage``. From then on, the box forwards to the property's cell there.
final class ValueBox: Sendable {
  enum State {
    case own(_CellValue.Form)
    case bound(_MagicCell)
  }

  /// The `deinit` of a value may read the property, so no value is released while this is locked.
  private let state = Mutex(State.own(.unset))
  /// The name of the type that declares the property, for the message about a value that was never
  /// set.
  let type: StaticString
  let line: UInt32

  init(type: StaticString, line: UInt32) {
    self.type = type
    self.line = line
  }

  deinit {
    IterativeRelease.forms(
      state.withLock { state in
        guard case .own(let form) = state, form.holdsObjects else { return [] }
        state = .own(.unset)
        return [form]
      })
  }

  /// The cell of the property in the object's storage, or nil if the object has no storage yet.
  private var bound: _MagicCell? {
    state.withLock { if case .bound(let cell) = $0 { cell } else { nil } }
  }

  var form: _CellValue.Form {
    switch state.withLock({ $0 }) {
    case .own(let form): form
    case .bound(let cell): cell.form
    }
  }

  /// Sets the value, unless the box already forwards to a cell.
  ///
  /// - Returns: The cell to which the box forwards, which the caller must set instead. Nil if the
  ///   box holds the value.
  func set(_ form: _CellValue.Form) -> _MagicCell? {
    var other = State.own(form)
    return state.withLock { state in
      if case .bound(let cell) = state { return cell }
      swap(&state, &other)
      return nil
    }
  }

  /// Sets the value, unless the box already has one or forwards to a storage. If several tasks call
  /// this method at the same time, only the first call sets it.
  func setFirst(_ form: _CellValue.Form) {
    state.withLock { state in
      if case .own(.unset) = state { state = .own(form) }
    }
  }

  /// Caches a value in the object's storage. Without a storage, does nothing, because the box
  /// already holds the value that was set.
  ///
  /// - Returns: The cached value. If several tasks call this method at the same time, all of them
  ///   receive the value of the first call.
  func cache(_ live: _LiveValue) -> _LiveValue { bound?.cache(live) ?? live }

  var address: (storage: ObjectStorage, slot: Int, context: FetchContext?)? { bound?.address }

  /// The identity of the object's storage, or nil if the object has no storage yet.
  var storageIdentifier: ObjectIdentifier? {
    state.withLock { state in
      if case .bound(let cell) = state { cell.storageIdentifier } else { nil }
    }
  }

  func bind(to cell: _MagicCell) {
    var other = State.bound(cell)
    state.withLock { swap(&$0, &other) }
  }

  /// Makes the box forward to a cell of a storage from now on.
  ///
  /// - Returns: The value that the box held, or nil if it already forwards to a storage.
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
    return "the property of type \(value) that \(type) declares in line \(line) was read before it "
      + "was set"
  }
}
