import Synchronization

/// A mark for as long as a decoder stands on a row, which whoever has no part in the decoder's life
/// can look at.
///
/// Proof that this may be looked at on any thread, and at any later time: the memory of a mark is
/// atomic and never freed, only given to the next decoder, and no number is given twice.
@safe struct RowTicket {
  private static let numbers = Atomic<Int>(0)
  /// Where marks are that no decoder has now: as many as there were decoders at one time.
  private static let idle = Mutex<[UInt]>([])

  private let mark: UnsafeMutablePointer<Atomic<Int>>
  private let number: Int

  /// Takes a mark, which says that there is no row yet.
  init() {
    let known = Self.idle.withLock { $0.popLast() }
    if let known, let mark = unsafe UnsafeMutablePointer<Atomic<Int>>(bitPattern: known) {
      unsafe self.mark = mark
    } else {
      unsafe mark = .allocate(capacity: 1)
      unsafe mark.initialize(to: Atomic(0))
    }
    number = Self.numbers.wrappingAdd(1, ordering: .relaxed).newValue
  }

  /// Says whether the decoder stands on a row.
  @inline(__always)
  var isValid: Bool { unsafe mark.pointee.load(ordering: .relaxed) == number }

  /// Says that the decoder stands on a row, or does not any more.
  func set(valid: Bool) {
    unsafe mark.pointee.store(valid ? number : 0, ordering: .relaxed)
  }

  /// Gives the mark to others; the ticket is never valid again.
  func end() {
    set(valid: false)
    let place = unsafe UInt(bitPattern: mark)
    Self.idle.withLock { $0.append(place) }
  }
}
