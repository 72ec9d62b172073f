/// Which parameters have a value of the current row.
///
/// Memory of its own, since an array in a class costs a check for exclusive access at every use,
/// once for each value that is bound.
@safe final class BoundParameters {
  /// The current row first, then for each parameter the row in which it was bound last.
  private let rows: UnsafeMutableBufferPointer<Int>

  /// Prepares for parameters 1 to `count`.
  init(count: Int) {
    unsafe rows = .allocate(capacity: count + 1)
    unsafe rows.initialize(repeating: 0)
  }

  deinit {
    unsafe rows.deallocate()
  }

  /// Begins a row in which nothing is bound.
  func beginRow() {
    unsafe rows[0] += 1
  }

  /// Lends the parameters that have no value of this row.
  @inline(__always)
  func forEachUnbound<Failure: Error>(_ body: (Int32) throws(Failure) -> Void) throws(Failure) {
    let row = unsafe rows[0]
    var index = 1
    while unsafe index < rows.count {
      if unsafe rows[index] != row { try body(Int32(truncatingIfNeeded: index)) }
      index += 1
    }
  }

  @inline(__always)
  subscript(parameter: Int32) -> Bool {
    get {
      let index = Int(parameter)
      return unsafe index > 0 && index < rows.count && rows[index] == rows[0]
    }
    set {
      let index = Int(parameter)
      guard unsafe index > 0 && index < rows.count else { return }
      unsafe rows[index] = newValue ? rows[0] : 0
    }
  }
}
