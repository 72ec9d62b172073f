import Platform

/// Lets go of values that may lead to other objects, without recursion: a chain of objects may be as
/// long as memory is, the stack is not.
///
/// What holds such a value hands it over when it goes itself. The outermost of them lets go of one
/// value after the other; those that go meanwhile only add theirs.
struct Release: ~Copyable {
  private var pending: [CellContent.Form]

  /// Lets go of values, now or as soon as what goes around them has gone.
  ///
  /// The caller must keep nothing of them, not even in a variable: whatever is left to its end goes
  /// there, by recursion.
  static func forms(_ forms: consuming [CellContent.Form]) {
    guard !forms.isEmpty, let key else { return }
    if let outer = unsafe pthread_getspecific(key) {
      unsafe outer.assumingMemoryBound(to: Release.self).pointee.pending += forms
      return
    }
    var release = Release(pending: consume forms)
    unsafe withUnsafeMutablePointer(to: &release) { pointer in
      unsafe pthread_setspecific(key, pointer)
      defer { pthread_setspecific(key, nil) }
      while let next = unsafe pointer.pointee.pending.popLast() { _ = consume next }
    }
  }

  // Proof: the pointer is to a variable of a caller on this thread, which takes it back before it
  // returns; no other thread can read it.
  /// The thread's place for a pointer, or nil if the process has none left.
  @safe private static let key: pthread_key_t? = {
    var key = pthread_key_t()
    return unsafe pthread_key_create(&key, nil) == 0 ? key : nil
  }()
}

extension CellContent.Form {
  /// Says whether the value may lead to objects and hold them.
  var holdsOthers: Bool {
    switch self {
    case .live, .targets: true
    case .unset, .stored, .data, .reference, .links, .lazy: false
    }
  }
}
