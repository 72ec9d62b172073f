import Dispatch
public import SQLiteCore
public import SQLiteObjects
import Synchronization

/// A store that is filled once and can be copied any number of times. Copying a small template
/// takes less than a millisecond.
///
///     extension StoreTemplate {
///       static let library = StoreTemplate { magic in
///         try magic.migrate(migrations)
///         try magic.update(sampleBooks)
///       }
///     }
///
///     let magic = try MagicData(copying: .library)
///
/// The template is filled when the first copy is made. Concurrent copies wait for this. Copies are
/// independent of the template and of each other: a change of one is never visible in another. The
/// template has already compared the tables of the types that it uses with their declarations, so
/// its copies don't do it again.
///
/// If filling the template fails, each copy throws the same error.
public final class StoreTemplate: Sendable {
  /// The source location at which the template was created, such as `AppTests/Fixtures.swift:12`.
  /// Errors contain it.
  public let location: String
  let options: Database.Options
  let minimumFileSize: Int
  private let usesBackup: Bool
  private let fill: @Sendable (MagicData) throws -> Void
  private let state = Mutex(State.empty)
  private let filling = DispatchGroup()

  private enum State {
    case empty, filling
    case ended(Result<StoreImage, TemplateError>)
  }

  /// The template that this thread is filling, or nil.
  @TaskLocal private static var current: StoreTemplate?
  /// For each template that is being filled, the other one for which its closure waits.
  private static let waits = Mutex<[ObjectIdentifier: StoreTemplate]>([:])

  /// Creates a template. It is filled when the first copy is made.
  ///
  /// - Parameters:
  ///   - options: The options for opening the template and its copies. If they contain a key, the
  ///     template and its copies are encrypted with it.
  ///   - minimumFileSize: The size in bytes from which the content of an asset is stored in a file.
  ///   - fileID: The source file to name in errors.
  ///   - line: The line to name in errors.
  ///   - fill: A closure that migrates the empty store and saves objects in it. It runs at most
  ///     once, on a separate thread and outside any task, so the cancellation of a test doesn't
  ///     affect it. The store is closed afterwards.
  public convenience init(
    options: Database.Options = Database.Options(), minimumFileSize: Int = 0,
    fileID: String = #fileID, line: Int = #line,
    _ fill: @escaping @Sendable (MagicData) throws -> Void
  ) {
    self.init(
      options: options, minimumFileSize: minimumFileSize, fileID: fileID, line: line,
      // The bytes of an encrypted file can't be deserialized.
      usesBackup: !Capabilities.hasSerialize || options.key != nil, fill)
  }

  /// Creates a template.
  ///
  /// - Parameters:
  ///   - options: The options for opening the template and its copies.
  ///   - minimumFileSize: The size in bytes from which the content of an asset is stored in a file.
  ///   - fileID: The source file to name in errors.
  ///   - line: The line to name in errors.
  ///   - usesBackup: Whether copies in memory are made with a backup instead of
  ///     `sqlite3_deserialize`.
  ///   - fill: A closure that fills the empty store.
  package init(
    options: Database.Options, minimumFileSize: Int, fileID: String, line: Int, usesBackup: Bool,
    _ fill: @escaping @Sendable (MagicData) throws -> Void
  ) {
    location = "\(fileID):\(line)"
    self.options = options
    self.minimumFileSize = minimumFileSize
    self.usesBackup = usesBackup
    self.fill = fill
  }

  /// Returns the content of the filled template. The first call fills it, and blocks the thread
  /// meanwhile, like concurrent calls.
  func image() throws(TemplateError) -> StoreImage {
    if let own = StoreTemplate.current {
      try own.wait(for: self)
    } else {
      start()
      filling.wait()
    }
    guard case .ended(let outcome) = state.withLock({ $0 }) else {
      throw .copiesItself(template: location)
    }
    return try outcome.get()
  }

  /// Fills the template on another thread, unless this has begun before.
  private func start() {
    state.withLock { state in
      guard case .empty = state else { return }
      state = .filling
      filling.enter()
      let thread = DispatchQueue(label: "MagicData.StoreTemplate", autoreleaseFrequency: .workItem)
      thread.async { [self] in
        let outcome = Result { () throws(TemplateError) in try filled() }
        self.state.withLock { $0 = .ended(outcome) }
        filling.leave()
      }
    }
  }

  /// Waits until another template is filled, which the closure of this template copies.
  ///
  /// - Throws: ``TemplateError/copiesItself(template:)`` if the other template waits for this one.
  private func wait(for other: StoreTemplate) throws(TemplateError) {
    let isCycle = StoreTemplate.waits.withLock { waits in
      var next: StoreTemplate? = other
      while let template = next {
        if template === self { return true }
        next = waits[ObjectIdentifier(template)]
      }
      waits[ObjectIdentifier(self)] = other
      return false
    }
    guard !isCycle else { throw .copiesItself(template: other.location) }
    other.start()
    other.filling.wait()
    _ = StoreTemplate.waits.withLock { $0.removeValue(forKey: ObjectIdentifier(self)) }
  }

  private func filled() throws(TemplateError) -> StoreImage {
    do {
      return try StoreTemplate.$current.withValue(self) {
        try StoreImage(
          options: options, minimumFileSize: minimumFileSize, usesBackup: usesBackup, fill)
      }
    } catch {
      throw .fillingFailed(template: location, cause: error)
    }
  }
}

/// The reason why a store couldn't be copied from a template.
public enum TemplateError: Error, CustomStringConvertible {
  /// The closure of the template has thrown an error, or has left another connection to the
  /// database of the template open. `template` is the source location at which the template was
  /// created.
  case fillingFailed(template: String, cause: any Error)
  /// The closure of the template copies the template itself, directly or by copying another
  /// template.
  case copiesItself(template: String)
  /// A file or folder exists where the copy would create one. It is unchanged.
  case fileExists(path: String)

  /// A description of the error in English.
  public var description: String {
    switch self {
    case .fillingFailed(let template, let cause):
      "the template at \(template) could not be filled: \(cause)"
    case .copiesItself(let template):
      "the template at \(template) copies itself; remove the copy from its closure"
    case .fileExists(let path):
      "\(path) exists; copy the template to another path"
    }
  }
}
