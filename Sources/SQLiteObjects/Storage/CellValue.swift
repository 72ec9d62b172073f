package import Essentials
import Platform
package import SQLiteCore

/// The value of a property as its cell holds it. Opaque.
public struct _CellValue: Sendable {
  package enum Form: Sendable {
    /// Nothing yet.
    case unset
    /// A value as SQLite stores it.
    case stored(Value)
    /// Bytes, as Foundation's type for them: they are copied once.
    case data(Data)
    /// A value that is more than SQLite stores: an object, a collection, an asset, a nested value.
    ///
    /// Indirect, so that the other forms stay small.
    indirect case live(_LiveValue)
    /// Another object, by its z_index.
    case reference(Int64)
    /// Links that were fetched with the object.
    case links
    /// A relation that was set since the object was fetched, or that is part of a ring.
    case targets([RelationTarget])
    /// Content that was left in the store.
    case lazy
  }

  package var form: Form

  package init(_ form: Form) {
    self.form = form
  }
}

/// The target of a relation that was set since the fetch or the first save: an object of the same fetch as its
/// z_index, and one of the same ring without holding it, so that objects do not hold each other forever.
package struct RelationTarget: Sendable {
  package enum End: Sendable {
    case fetched(Int64)
    /// An object of another fetch, or one that was made. It is held.
    case other(_LiveValue)
    /// An object of the same ring. It is not held.
    case companion(Companion)
  }

  let key: SQLiteCore.Value
  let end: End
}

/// A reference to an object of the same ring, which does not hold it.
package final class Companion: Sendable {
  /// The object's `ObjectGroup`, which references values and is not known here.
  weak let group: (any AnyObject & Sendable)?
  /// The object's row in the group.
  let row: Int

  init(_ group: any AnyObject & Sendable, row: Int) {
    self.group = group
    self.row = row
  }
}

/// A Swift value of any type, in a cell. Opaque.
///
/// Proof: the value is reached only through the property wrapper that was declared with its type, or
/// through a ``MagicAsset`` of its type, and these are Sendable only if that type is. An object with a
/// value that is not Sendable therefore never leaves its isolation domain, and neither does the value:
/// what the store takes to other threads are the stored forms made of it where the object lives.
public struct _LiveValue: @unchecked Sendable {
  package let value: Any

  package init(_ value: Any) {
    self.value = value
  }

  /// Lends the memory of the value if it is of exactly a type. Nothing in it is copied.
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

/// Releases values that may lead to other objects, with few levels of recursion: a chain of objects may be as long as
/// memory is, the stack is not.
///
/// A holder of such values passes them on in its `deinit`. The outermost call releases one value after the
/// other; calls inside it, from the holders that are released meanwhile, only add theirs, unless they are on one of the
/// first levels.
struct IterativeRelease: ~Copyable {
  private var pending: [_CellValue.Form] = []
  private var depth = 0

  /// Each level takes some 2 KB of the stack.
  private static let maximumDepth = 16

  /// Destroys a holder of values.
  ///
  /// - Parameters:
  ///   - destroy: Destroys the holder with the values that it still has.
  ///   - take: Takes the values out of the holder.
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

  /// Releases values, now or in the outermost call.
  ///
  /// The caller must keep none of them, not even in a variable: they would be released at its end, by
  /// recursion.
  static func forms(_ forms: consuming [_CellValue.Form]) {
    guard !forms.isEmpty, let key else { return }
    if let outer = unsafe pthread_getspecific(key) {
      unsafe outer.assumingMemoryBound(to: IterativeRelease.self).pointee.pending += forms
      return
    }
    var release = IterativeRelease(pending: consume forms)
    unsafe withUnsafeMutablePointer(to: &release) { unsafe run($0, key) {} }
  }

  /// Runs the outermost call.
  @unsafe private static func run(
    _ release: UnsafeMutablePointer<IterativeRelease>, _ key: pthread_key_t, _ destroy: () -> Void
  ) {
    unsafe pthread_setspecific(key, release)
    defer { pthread_setspecific(key, nil) }
    destroy()
    while let next = unsafe release.pointee.pending.popLast() { _ = consume next }
  }

  // Proof: the pointer is to a variable of a caller on this thread, which takes it back before it
  // returns; no other thread can read it.
  /// The key of the thread's pointer to the outermost call, or nil if the process has none left.
  @safe private static let key: pthread_key_t? = {
    var key = pthread_key_t()
    return unsafe pthread_key_create(&key, nil) == 0 ? key : nil
  }()
}

extension _CellValue.Form {
  /// Whether the value may lead to objects and hold them.
  var holdsOthers: Bool {
    switch self {
    case .live, .targets: true
    case .unset, .stored, .data, .reference, .links, .lazy: false
    }
  }
}
