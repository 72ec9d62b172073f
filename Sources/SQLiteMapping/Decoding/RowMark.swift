import Synchronization

/// Says which row is being read or bound, to decoders, encoders and containers that somebody may have
/// kept, at any later time and on any thread.
///
/// It holds two numbers. The *row* changes when a row ends: a decoder or an encoder is a value that was
/// given the number of its row, and is valid while that is the present one. The *life* is there while a
/// row is read or bound: a container is made once for many rows, so that it has the number of a life
/// instead. ``DecodedRow`` and ``EncodedRow`` begin a new life if anybody still has a container when
/// its row has ended.
///
/// Proof that this may be looked at on any thread: the memory of a mark is atomic and never freed, only
/// given to the next reader, and no number is given twice.
@safe struct RowMark {
  private struct Numbers: ~Copyable {
    let row = Atomic<Int>(0)
    let life = Atomic<Int>(0)
  }

  private static let lives = Atomic<Int>(0)
  /// Where marks are that no reader has now: as many as there were readers at one time.
  private static let idle = Mutex<[UInt]>([])

  private let numbers: UnsafeMutablePointer<Numbers>

  /// Takes a mark, which says that there is no row yet.
  init() {
    let known = Self.idle.withLock { $0.popLast() }
    if let known, let numbers = unsafe UnsafeMutablePointer<Numbers>(bitPattern: known) {
      unsafe self.numbers = numbers
    } else {
      unsafe numbers = .allocate(capacity: 1)
      unsafe numbers.initialize(to: Numbers())
    }
  }

  /// The number of a new life.
  static func newLife() -> Int { lives.wrappingAdd(1, ordering: .relaxed).newValue }

  /// The number of the present row, or of the next one.
  @inline(__always)
  var row: Int { unsafe numbers.pointee.row.load(ordering: .relaxed) }

  /// The present life; 0 between rows.
  @inline(__always)
  var life: Int { unsafe numbers.pointee.life.load(ordering: .relaxed) }

  /// Begins a row.
  @inline(__always)
  func begin(life: Int) {
    unsafe numbers.pointee.life.store(life, ordering: .relaxed)
  }

  /// Ends a row: what was given its number, or had its life, is not valid any more.
  @inline(__always)
  func end() {
    unsafe numbers.pointee.life.store(0, ordering: .relaxed)
    endNumber()
  }

  /// Ends what was given the number of the row. Only the row's own thread writes here.
  @inline(__always)
  func endNumber() {
    unsafe numbers.pointee.row.store(row &+ 1, ordering: .relaxed)
  }

  /// Gives the mark to others.
  func giveBack() {
    end()
    let place = unsafe UInt(bitPattern: numbers)
    Self.idle.withLock { $0.append(place) }
  }
}

/// A container's permission: the mark and a life.
struct RowTicket {
  let mark: RowMark
  let life: Int

  /// Says whether a row is being read or bound in that life.
  @inline(__always)
  var isValid: Bool { mark.life == life }
}
