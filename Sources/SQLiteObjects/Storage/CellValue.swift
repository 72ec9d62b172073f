package import Essentials
import Platform
package import SQLiteCore

/// The value of a property in the form in which its cell stores it.
///
/// For internal use by the property wrappers.
public struct _CellValue: Sendable {
  package enum Form: Sendable {
    /// No value was set.
    case unset
    /// A value of one of SQLite's types.
    case stored(Value)
    /// Bytes as Foundation's `Data`, so that reading the property doesn't copy them again.
    case data(Data)
    /// A value of a type that SQLite doesn't store: an object, a collection, an asset or a nested
    /// value.
    ///
    /// Indirect to keep the other cases small.
    indirect case live(_LiveValue)
    /// The target of a to-one relation, identified by its z_index.
    case reference(Int64)
    /// Links that were fetched together with the object. The cell's ``FetchContext`` contains them.
    case links
    /// The targets of a relation that has been set since the object was fetched, or that is part of
    /// a reference cycle.
    case targets([RelationTarget])
    /// A value that stays in the store until it is requested.
    case lazy
  }

  package var form: Form

  package init(_ form: Form) {
    self.form = form
  }
}

/// A target of a relation that has been set since its object was fetched or first saved.
///
/// Strong references between the objects of a fetch, or of a cycle, would leak. An object of the
/// same fetch is therefore stored as its z_index, and an object of the same cycle as a weak
/// reference.
package struct RelationTarget: Sendable {
  package enum End: Sendable {
    /// An object of the same fetch, identified by its z_index.
    case fetched(Int64)
    /// An object of another fetch, or one that the program created. The reference is strong.
    case other(_LiveValue)
    /// An object of the same cycle. The reference is weak.
    case weakReference(WeakObjectReference)
  }

  let key: SQLiteCore.Value
  let end: End
}

/// A weak reference to an object of the same reference cycle.
package final class WeakObjectReference: Sendable {
  /// The `ObjectGroup` of the object, or nil if the group was released. The type is `AnyObject`, so
  /// that this class and `ObjectGroup` don't depend on each other.
  weak let group: (any AnyObject & Sendable)?
  /// The row of the object in ``group``.
  let row: Int

  init(_ group: any AnyObject & Sendable, row: Int) {
    self.group = group
    self.row = row
  }
}

/// A type-erased Swift value in a cell.
///
/// For internal use by the property wrappers.
///
/// Proof: the value is accessed only through the property wrapper that was declared with its type,
/// or through a ``MagicAsset`` of its type. Both are Sendable only if that type is. An object with
/// a value that isn't Sendable therefore never leaves its isolation domain, and neither does the
/// value. The store passes only stored forms to other threads, which it creates in the object's
/// isolation domain.
public struct _LiveValue: @unchecked Sendable {
  package let value: Any

  package init(_ value: Any) {
    self.value = value
  }

  /// Calls `body` with a pointer to the value, without copying it, if the value is of exactly the
  /// type `type`.
  ///
  /// - Returns: The result of `body`, or nil if the value is of another type.
  @unsafe func withMemory<Result>(
    of type: ObjectIdentifier, _ body: (UnsafeRawPointer) throws -> Result
  ) rethrows -> Result? {
    func lend<Value>(_ value: Value) throws -> Result? {
      guard ObjectIdentifier(Value.self) == type else { return nil }
      return try unsafe withUnsafePointer(to: value) { try unsafe body(UnsafeRawPointer($0)) }
    }
    return try _openExistential(value, do: lend)
  }
}

/// The release of values that may reference other objects, with bounded recursion. Without it,
/// releasing a long chain of objects would overflow the stack.
///
/// Owners of such values call this type in their `deinit`. The outermost call releases the values
/// in a loop. The release of a value can run the `deinit` of another owner, which makes a nested
/// call. Beyond the first few levels, nested calls only append their values to the loop's list.
struct IterativeRelease: ~Copyable {
  private var pending: [_CellValue.Form] = []
  private var depth = 0

  /// The maximum depth of recursion. Each level takes about 2 KB of the stack.
  private static let maximumDepth = 16

  /// Destroys an owner of values, and releases the values without deep recursion.
  ///
  /// - Parameters:
  ///   - destroy: Destroys the owner and the values that it still has.
  ///   - take: Removes the values from the owner and returns them. It is called before `destroy`,
  ///     but only beyond the maximum depth.
  static func holder(_ destroy: () -> Void, taking take: () -> [_CellValue.Form]) {
    guard let key else { return destroy() }
    guard let outer = unsafe pthread_getspecific(key) else {
      var release = IterativeRelease()
      return unsafe withUnsafeMutablePointer(to: &release) { unsafe run($0, key, destroy) }
    }
    let release = unsafe outer.assumingMemoryBound(to: IterativeRelease.self)
    if unsafe release.pointee.depth < maximumDepth {
      unsafe release.pointee.depth += 1
      destroy()
      unsafe release.pointee.depth -= 1
    } else {
      unsafe release.pointee.pending += take()
      destroy()
    }
  }

  /// Releases values immediately or, in a nested call, in the loop of the outermost call.
  ///
  /// The caller must not keep any of them, not even in a variable: the end of its scope would
  /// release them recursively.
  static func forms(_ forms: consuming [_CellValue.Form]) {
    guard !forms.isEmpty, let key else { return }
    if let outer = unsafe pthread_getspecific(key) {
      unsafe outer.assumingMemoryBound(to: IterativeRelease.self).pointee.pending += forms
      return
    }
    var release = IterativeRelease(pending: consume forms)
    unsafe withUnsafeMutablePointer(to: &release) { unsafe run($0, key) {} }
  }

  /// Runs the outermost call: destroys the owner, and then releases the pending values in a loop.
  @unsafe private static func run(
    _ release: UnsafeMutablePointer<IterativeRelease>, _ key: pthread_key_t, _ destroy: () -> Void
  ) {
    unsafe pthread_setspecific(key, release)
    defer { pthread_setspecific(key, nil) }
    destroy()
    while let next = unsafe release.pointee.pending.popLast() { _ = consume next }
  }

  // Proof: the pointer refers to a variable of a caller on the same thread, which resets the
  // pointer before it returns. No other thread can read it.
  /// The key of the thread-specific pointer to the outermost call, or nil if the process has no
  /// keys left.
  @safe private static let key: pthread_key_t? = {
    var key = pthread_key_t()
    return unsafe pthread_key_create(&key, nil) == 0 ? key : nil
  }()
}

extension _CellValue.Form {
  /// Whether the value may hold references to other objects.
  var holdsObjects: Bool {
    switch self {
    case .live, .targets: true
    case .unset, .stored, .data, .reference, .links, .lazy: false
    }
  }
}
