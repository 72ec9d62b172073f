public import Essentials
import SQLiteCore
import SQLiteMapping
public import SQLiteObjects

extension MagicData {
  /// Creates a copy of a template, which is deleted when it is closed or released. Blocks the
  /// thread.
  ///
  ///     let magic = try MagicData(copying: .library)
  ///
  /// The copy isn't synced to the disk, and neither are later writes. The asset files of the
  /// template are copied when the copy first accesses an asset.
  ///
  /// - Parameters:
  ///   - template: The template. The first copy fills it.
  ///   - type: The storage of the copy: memory or files.
  /// - Throws: ``TemplateError/fillingFailed(template:cause:)`` if the template couldn't be filled,
  ///   ``TemplateError/copiesItself(template:)`` if the closure of the template copies it,
  ///   `SQLiteError` or `AssetError` if the copy can't be created.
  public convenience init(copying template: StoreTemplate, type: StoreType = .memory) throws {
    self.init(try template.image().copy(type))
  }

  /// Creates a copy of a template, which is deleted when it is closed or released. Suspends the
  /// task meanwhile.
  ///
  /// The copy isn't synced to the disk, and neither are later writes. The asset files of the
  /// template are copied when the copy first accesses an asset.
  ///
  /// - Parameters:
  ///   - template: The template. The first copy fills it.
  ///   - type: The storage of the copy: memory or files.
  /// - Throws: The errors of the blocking form, and `CancellationError` if the task was cancelled.
  ///   Cancellation doesn't stop the filling of the template.
  public convenience init(
    copying template: StoreTemplate, type: StoreType = .memory
  ) async throws {
    self.init(try await Worker().run { try template.image().copy(type) })
  }

  /// Creates a copy of a template at a path, blocking the thread.
  ///
  /// The copy is a normal store, which you can open again with `MagicData(path:)`. The files of the
  /// copy aren't synced to the disk: after a power cut, they may be damaged. To copy a store that
  /// must survive one, use `backup(to:)`.
  ///
  /// - Parameters:
  ///   - template: The template. The first copy fills it.
  ///   - path: The folder or the database file of the new store, as in `MagicData(path:)`.
  /// - Throws: ``TemplateError/fileExists(path:)`` if the path contains a store or an asset folder,
  ///   ``TemplateError/fillingFailed(template:cause:)`` if the template couldn't be filled,
  ///   ``TemplateError/copiesItself(template:)`` if the closure of the template copies it,
  ///   `SQLiteError` or `AssetError` if the copy can't be created. The files at the path are
  ///   unchanged then.
  public convenience init(copying template: StoreTemplate, at path: String) throws {
    self.init(try template.image().copy(to: path))
  }

  /// Creates a copy of a template at a path. Suspends the task meanwhile.
  ///
  /// For details, see the blocking form.
  ///
  /// - Parameters:
  ///   - template: The template. The first copy fills it.
  ///   - path: The folder or the database file of the new store, as in `MagicData(path:)`.
  /// - Throws: The errors of the blocking form, and `CancellationError` if the task was cancelled.
  public convenience init(copying template: StoreTemplate, at path: String) async throws {
    self.init(try await Worker().run { try template.image().copy(to: path) })
  }

  /// Creates a copy of a template at a file URL, blocking the thread.
  ///
  /// The copy is a normal store, which you can open again with `MagicData(path:)`. The files of the
  /// copy aren't synced to the disk: after a power cut, they may be damaged. To copy a store that
  /// must survive one, use `backup(to:)`.
  ///
  /// - Parameters:
  ///   - template: The template. The first copy fills it.
  ///   - path: A file URL of the folder or the database file of the new store.
  /// - Throws: `SQLiteError` if `path` isn't a valid file URL, or the errors for a path that is a
  ///   string.
  public convenience init(copying template: StoreTemplate, at path: URL) throws {
    self.init(try template.image().copy(to: path.filePath()))
  }

  /// Creates a copy of a template at a file URL. Suspends the task meanwhile.
  ///
  /// - Parameters:
  ///   - template: The template. The first copy fills it.
  ///   - path: A file URL of the folder or the database file of the new store.
  /// - Throws: The errors of the blocking form, and `CancellationError` if the task was cancelled.
  public convenience init(copying template: StoreTemplate, at path: URL) async throws {
    let path = try path.filePath()
    self.init(try await Worker().run { try template.image().copy(to: path) })
  }
}
