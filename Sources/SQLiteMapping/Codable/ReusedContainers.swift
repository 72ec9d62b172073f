import ExactText
import Essentials
import SQLiteCore
import Synchronization

/// A container that a statement's decoder or encoder creates once and returns for each row.
class ReusedContainer {
  final let copyCheck: CopyCheck

  fileprivate init(_ copyCheck: CopyCheck) {
    self.copyCheck = copyCheck
  }

  /// A check for copies of a container. It is valid only while the container exists.
  @safe struct CopyCheck {
    /// The address of the reference that the container consists of, or nil if the container has
    /// another layout.
    private let reference: UnsafeMutablePointer<AnyObject>?

    fileprivate init(_ reference: UnsafeMutablePointer<AnyObject>?) {
      unsafe self.reference = unsafe reference
    }

    /// Whether another copy exists. True if this cannot be determined.
    @inline(__always)
    var hasCopies: Bool {
      guard let reference = unsafe reference else { return true }
      return unsafe !isKnownUniquelyReferenced(&reference.pointee)
    }
  }
}

/// A box that stores a container for code that doesn't state the container's type. Stating the type
/// `KeyedDecodingContainer<Key>` requires a metadata lookup, which costs as much as reading a
/// column (benchmark `fetch`).
@safe final class Boxed<Content>: ReusedContainer {
  private let content: UnsafeMutablePointer<Content>
  /// The object that the content references without owning it, or nil if the content owns what it
  /// references.
  private let owner: AnyObject?

  init(_ content: Content, owner: AnyObject? = nil) {
    let memory = UnsafeMutablePointer<Content>.allocate(capacity: 1)
    unsafe memory.initialize(to: content)
    unsafe self.content = unsafe memory
    self.owner = owner
    let isReference =
      ContainerLayout.isOneReference
      && MemoryLayout<Content>.size == MemoryLayout<AnyObject>.size
    // `ContainerLayout` has verified that the content is one reference to a Swift class.
    unsafe super.init(
      CopyCheck(
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

/// The container that a statement's decoder or encoder reuses for each row.
struct ContainerCache {
  private var container: ReusedContainer?
  /// The type of the container's keys.
  private var keys: ObjectIdentifier?
  /// The check for copies of ``container``, or nil if there is no container. It is stored here,
  /// because getting it from the container would count a reference.
  private var copyCheck: ReusedContainer.CopyCheck?
  /// The containers that were replaced because the type requested keys of another type in the same
  /// row. They are kept because copies may borrow from them.
  private var others: [ReusedContainer] = []

  /// Whether copies of the containers may exist.
  @inline(__always)
  var hasCopies: Bool { copyCheck?.hasCopies ?? false || !others.isEmpty }

  /// Releases all containers, including ``others``.
  mutating func removeAll() { self = ContainerCache() }

  /// Returns the container that was added last, or nil if its keys have another type than `keys`.
  @inline(__always)
  func container(for keys: Any.Type) -> ReusedContainer? {
    self.keys == ObjectIdentifier(keys) ? container : nil
  }

  mutating func add(_ new: ReusedContainer, for keys: Any.Type) {
    if let container { others.append(container) }
    container = new
    copyCheck = new.copyCheck
    self.keys = ObjectIdentifier(keys)
  }
}

/// The memory layout of the standard library's keyed containers.
enum ContainerLayout {
  /// Whether each keyed container consists of one reference to an object. If a version of the
  /// standard library uses another layout, containers are created for each row.
  static let isOneReference: Bool = {
    let decoding = try? NestedJSON.decoder(of: Data("{}".utf8)).container(keyedBy: PathKey.self)
    let encoding = TreeEncoder(throwing: NestingSignal()).container(keyedBy: PathKey.self)
    return (decoding.map { isReference($0) } ?? false) && isReference(encoding)
  }()

  private static func isReference<Content>(_ content: Content) -> Bool {
    guard MemoryLayout<Content>.size == MemoryLayout<AnyObject>.size,
      let field = Mirror(reflecting: content).children.first?.value,
      type(of: field) is AnyClass
    else { return false }
    // This only compares the bits.
    return unsafe unsafeBitCast(content, to: UInt.self)
      == UInt(bitPattern: ObjectIdentifier(field as AnyObject))
  }
}

/// An unowned reference to a statement. Using it changes no reference count. Storing it doesn't
/// keep the statement alive, so SQLite finalizes each statement where its connection is used.
///
/// Proof that the statement is alive: it is used by a ``DecodedRow`` or an ``EncodedRow`` on behalf
/// of decoders, encoders and containers, which check their ``RowMark`` first. A mark is
/// valid only during a call of ``RowReader`` or ``RowBinder``, which own the statement.
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

  /// Calls `body`, which throws `SQLiteError`, with the statement.
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

/// The identity of the row that is being read or bound. Decoders, encoders and containers check it
/// before they use the row. A type may have kept them, so the check may happen at any later time
/// and on any thread.
///
/// The mark stores two numbers. The *row* changes when a row ends. A decoder or an encoder is
/// created for each row and stores its number. It is valid while this is the current row. The
/// *life* is nonzero while a row is being read or bound. A container is created once for many rows,
/// so it stores the number of a life instead. If a copy of a container exists when its row ends,
/// ``DecodedRow`` and ``EncodedRow`` begin a new life.
///
/// Proof that any thread may read the numbers: the memory of a mark is atomic and never freed. It
/// is only reused for the next reader, and no number is used twice.
@safe struct RowMark {
  private struct Numbers: ~Copyable {
    let row = Atomic<Int>(0)
    let life = Atomic<Int>(0)
  }

  private static let lives = Atomic<Int>(0)
  /// The memory of unused marks. The number of marks never exceeds the highest number of readers
  /// and binders that existed at the same time.
  private static let idle = Mutex<[UInt]>([])

  private let numbers: UnsafeMutablePointer<Numbers>

  /// Creates a mark without a current row. Its memory comes from an unused mark, if one exists.
  init() {
    let known = Self.idle.withLock { $0.popLast() }
    if let known, let numbers = unsafe UnsafeMutablePointer<Numbers>(bitPattern: known) {
      unsafe self.numbers = numbers
    } else {
      unsafe numbers = .allocate(capacity: 1)
      unsafe numbers.initialize(to: Numbers())
    }
  }

  /// Returns a number for a new life, which no mark has used before.
  static func newLife() -> Int { lives.wrappingAdd(1, ordering: .relaxed).newValue }

  /// The number of the current row or, between rows, of the next one.
  @inline(__always)
  var row: Int { unsafe numbers.pointee.row.load(ordering: .relaxed) }

  /// The current life, or 0 between rows.
  @inline(__always)
  var life: Int { unsafe numbers.pointee.life.load(ordering: .relaxed) }

  /// Begins a row. Containers that were created with the number `life` become valid.
  @inline(__always)
  func begin(life: Int) {
    unsafe numbers.pointee.life.store(life, ordering: .relaxed)
  }

  /// Ends a row, which invalidates decoders with its number and containers with its life. Only the
  /// thread that reads or binds the row may call this.
  @inline(__always)
  func end() {
    unsafe numbers.pointee.life.store(0, ordering: .relaxed)
    unsafe numbers.pointee.row.store(row &+ 1, ordering: .relaxed)
  }

  /// Ends the row and makes the memory of the mark available to the next reader or binder.
  func recycle() {
    end()
    let place = unsafe UInt(bitPattern: numbers)
    Self.idle.withLock { $0.append(place) }
  }
}

/// A container's permission to use a row, which is valid during one life.
struct RowPermission {
  let mark: RowMark
  let life: Int

  /// Whether a row is being read or bound in the life for which the permission was created.
  @inline(__always)
  var isValid: Bool { mark.life == life }
}
