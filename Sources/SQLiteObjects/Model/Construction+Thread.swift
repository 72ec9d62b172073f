import Synchronization

import Platform

// What runs on this thread. Proof: the pointer is to a variable of a caller on this thread, set for
// the time of one call of ``run(_:_:)``, which lends the variable to nobody else and whose end
// restores what was set before; no other thread can read it.
extension Construction {
  /// The thread's place for a pointer, or nil if the process has none left.
  @safe static let key: pthread_key_t? = {
    var key = pthread_key_t()
    return unsafe pthread_key_create(&key, nil) == 0 ? key : nil
  }()

  /// What is being made on this thread.
  @unsafe private static var current: UnsafeMutablePointer<Construction>? {
    guard let key, let pointer = unsafe pthread_getspecific(key) else { return nil }
    return unsafe pointer.assumingMemoryBound(to: Construction.self)
  }

  /// How many calls of ``run(_:_:)`` there are, on all threads.
  private static let runningCount = Atomic<Int>(0)

  /// Says whether something is being made, on whichever thread: most of the time nothing is, and
  /// whoever reads a value need not ask for the thread's place.
  static var isAnyRunning: Bool { runningCount.load(ordering: .relaxed) != 0 }

  /// Runs what makes objects, which is told by the pointer what it makes.
  @unsafe static func run<Result>(
    _ construction: inout Construction,
    _ body: (UnsafeMutablePointer<Construction>) throws -> Result
  ) rethrows -> Result {
    try unsafe withUnsafeMutablePointer(to: &construction) { pointer in
      guard let key else { return try unsafe body(pointer) }
      let outer = unsafe pthread_getspecific(key)
      runningCount.add(1, ordering: .relaxed)
      unsafe pthread_setspecific(key, pointer)
      defer {
        unsafe pthread_setspecific(key, outer)
        runningCount.subtract(1, ordering: .relaxed)
      }
      return try unsafe body(pointer)
    }
  }

  /// Makes an object on its own, whatever is being made around it.
  static func outside<Object>(_ body: () throws -> Object) rethrows -> Object {
    guard let key, let outer = unsafe pthread_getspecific(key) else { return try body() }
    pthread_setspecific(key, nil)
    defer { unsafe pthread_setspecific(key, outer) }
    return try body()
  }

  /// The place for a wrapper that is being made.
  static func cell(_ type: StaticString, _ line: UInt32) -> MagicCell {
    guard let current = unsafe current else {
      return MagicCell(.own(OwnCell(type: type, line: line)), 0)
    }
    return unsafe current.pointee.take(type, line)
  }

  /// Says whether a storage's object is being made on this thread.
  static func isMaking(_ storage: ObjectStorage) -> Bool {
    guard let current = unsafe current else { return false }
    return unsafe current.pointee.makes(storage)
  }

  /// What the `init()` that runs has set, or nil if it is not that of the storage's object.
  static func form(of storage: ObjectStorage, _ slot: Int) -> CellContent.Form? {
    guard let current = unsafe current, unsafe current.pointee.makes(storage) else {
      return nil
    }
    return unsafe current.pointee.form(slot)
  }

  /// Keeps what the `init()` that runs sets.
  ///
  /// - Returns: False if it is not that of the storage's object.
  static func set(_ form: CellContent.Form, of storage: ObjectStorage, _ slot: Int) -> Bool {
    guard let current = unsafe current, unsafe current.pointee.makes(storage) else {
      return false
    }
    _ = unsafe current.pointee.exchange(form, slot)
    return true
  }
}
