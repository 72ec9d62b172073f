import ExactText
import Essentials
import SQLiteCore
import Synchronization

/// A container that a decoder or an encoder hands out again for each row.
class ReusedContainer {
  final let keeping: Keeping

  fileprivate init(_ keeping: Keeping) {
    self.keeping = keeping
  }

  /// Tells whether somebody has a copy of a container. Whoever has it also has the container.
  @safe struct Keeping {
    /// The reference that the container is; nil if it is something else.
    private let reference: UnsafeMutablePointer<AnyObject>?

    fileprivate init(_ reference: UnsafeMutablePointer<AnyObject>?) {
      unsafe self.reference = unsafe reference
    }

    /// Whether there is a copy besides ours.
    @inline(__always)
    var isKept: Bool {
      guard let reference = unsafe reference else { return true }
      return unsafe !isKnownUniquelyReferenced(&reference.pointee)
    }
  }
}

/// A container of a type that only the box knows: finding out what `KeyedDecodingContainer<Key>` is costs
/// as much at run time as reading a column (benchmark `fetch`).
@safe final class Boxed<Content>: ReusedContainer {
  private let content: UnsafeMutablePointer<Content>
  /// The container that the content borrows from.
  private let owner: AnyObject?

  init(_ content: Content, owner: AnyObject? = nil) {
    let memory = UnsafeMutablePointer<Content>.allocate(capacity: 1)
    unsafe memory.initialize(to: content)
    unsafe self.content = unsafe memory
    self.owner = owner
    let isReference =
      ContainerLayout.isOneReference
      && MemoryLayout<Content>.size == MemoryLayout<AnyObject>.size
    // `ContainerLayout` has proven that the content is one reference to a Swift class.
    unsafe super.init(
      Keeping(
        isReference ? UnsafeMutableRawPointer(memory).assumingMemoryBound(to: AnyObject.self) : nil)
    )
  }

  deinit {
    unsafe content.deinitialize(count: 1)
    unsafe content.deallocate()
  }

  @inline(never)
  func copy() -> Content { unsafe content.pointee }
}

/// The container that a row hands out again for each row of a statement.
struct ContainerCache {
  private var container: ReusedContainer?
  /// The type of its keys.
  private var keys: ObjectIdentifier?
  /// Tells whether somebody has ``container``, without counting references; nil as long as there is none.
  private var keeping: ReusedContainer.Keeping?
  /// Those of other types of keys in this row, which somebody may borrow from.
  private var others: [ReusedContainer] = []

  /// Whether somebody may still have one of the containers.
  @inline(__always)
  var isKept: Bool { keeping?.isKept ?? false || !others.isEmpty }

  /// Forgets the containers.
  mutating func removeAll() { self = ContainerCache() }

  /// The container for a type of keys; nil if it is not the last one that was added.
  @inline(__always)
  func container(for keys: Any.Type) -> ReusedContainer? {
    self.keys == ObjectIdentifier(keys) ? container : nil
  }

  mutating func add(_ new: ReusedContainer, for keys: Any.Type) {
    if let container { others.append(container) }
    container = new
    keeping = new.keeping
    self.keys = ObjectIdentifier(keys)
  }
}

/// The layout of the standard library's keyed containers.
enum ContainerLayout {
  /// Whether each of them is one reference to an object. If a library does it otherwise, containers are
  /// made anew for each row.
  static let isOneReference: Bool = {
    let decoding = try? NestedJSON.decoder(of: Data("{}".utf8)).container(keyedBy: PathKey.self)
    let encoding = TreeEncoder(refusing: NestingSignal()).container(keyedBy: PathKey.self)
    return (decoding.map { isReference($0) } ?? false) && isReference(encoding)
  }()

  private static func isReference<Content>(_ content: Content) -> Bool {
    guard MemoryLayout<Content>.size == MemoryLayout<AnyObject>.size,
      let field = Mirror(reflecting: content).children.first?.value,
      type(of: field) is AnyClass
    else { return false }
    // Only its bits are looked at.
    return unsafe unsafeBitCast(content, to: UInt.self)
      == UInt(bitPattern: ObjectIdentifier(field as AnyObject))
  }
}

/// An unowned reference to a statement. Using it counts no references, and keeping it keeps no statement
/// alive, so that SQLite finalizes each where its connection is used.
///
/// Proof that it leads to a living statement: it is used by a ``DecodedRow`` or an ``EncodedRow`` on
/// behalf of decoders, encoders and containers, each of which asks its ``RowMark`` first. A mark is
/// valid during one call of ``RowReader`` or ``RowBinder`` only, which own the statement.
@safe struct BorrowedHandle {
  private let handle: Unmanaged<StatementHandle>

  init(_ handle: StatementHandle) {
    unsafe self.handle = Unmanaged.passUnretained(handle)
  }

  /// Calls `body` with the statement.
  @inline(__always)
  func use<Result>(_ body: (StatementHandle) throws -> Result) rethrows -> Result {
    try unsafe handle._withUnsafeGuaranteedRef(body)
  }

  /// Calls `body`, which throws errors of SQLite, with the statement.
  @inline(__always)
  func attempt<Success>(
    _ body: (StatementHandle) throws(SQLiteError) -> Success
  ) throws(SQLiteError) -> Success {
    let result = use { handle -> Result<Success, SQLiteError> in
      do throws(SQLiteError) { return .success(try body(handle)) } catch { return .failure(error) }
    }
    return try result.get()
  }

  var sql: String { use { $0.sql } }

  func storageClass(at column: Int32) -> String { use { $0.storageClass(at: column) } }

  @inline(__always)
  func isNull(at column: Int32) -> Bool { use { $0.isNull(at: column) } }

  func value(at column: Int32) throws(SQLiteError) -> Value {
    try attempt { handle throws(SQLiteError) in try handle.value(at: column) }
  }
}

extension BorrowedHandle {
  func bindNull(at parameter: Int32) throws(SQLiteError) {
    try attempt { handle throws(SQLiteError) in try handle.bindNull(at: parameter) }
  }

  func bind(_ value: Value, at parameter: Int32) throws(SQLiteError) {
    try attempt { handle throws(SQLiteError) in try handle.bind(value, at: parameter) }
  }
}

/// The number of the row that is being read or bound. Decoders, encoders and containers, which somebody may
/// have kept, ask it before they use the row: at any later time, on any thread.
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
  /// The memory of the marks that no reader has now: as many as there were readers at one time.
  private static let idle = Mutex<[UInt]>([])

  private let numbers: UnsafeMutablePointer<Numbers>

  /// Takes a mark that has no row yet.
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

  /// Ends a row: decoders with its number and containers with its life are not valid any more. Only the row's thread
  /// calls this.
  @inline(__always)
  func end() {
    unsafe numbers.pointee.life.store(0, ordering: .relaxed)
    unsafe numbers.pointee.row.store(row &+ 1, ordering: .relaxed)
  }

  /// Gives the memory of the mark back for the next reader.
  func giveBack() {
    end()
    let place = unsafe UInt(bitPattern: numbers)
    Self.idle.withLock { $0.append(place) }
  }
}

/// A container's permission: the mark and a life.
struct RowPermission {
  let mark: RowMark
  let life: Int

  /// Whether a row is being read or bound in that life.
  @inline(__always)
  var isValid: Bool { mark.life == life }
}
