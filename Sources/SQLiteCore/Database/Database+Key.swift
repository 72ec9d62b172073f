import CSQLite
import ExactText
import Platform
import Synchronization

extension Database {
  /// The key of an encrypted database file.
  ///
  /// A key never appears in a description, an error or a trace. Its bytes are overwritten with
  /// zeros when the last copy of the value is released. The text or bytes from which you created it
  /// aren't overwritten. SQLCipher keeps its own copies of the key while a connection is open, and
  /// overwrites them when it closes the connection.
  ///
  /// Encryption needs the library SQLCipher (``Capabilities/hasEncryption``).
  public struct Key: Sendable {
    private let secret: Secret

    /// Creates a key from a passphrase, from which SQLCipher derives the encryption key.
    ///
    /// The derivation is slow on purpose: it takes almost a tenth of a second for each connection
    /// that is opened. As in SQLCipher's own calls, a text of the form `x'…'` with 64 or 96
    /// hexadecimal digits is the encryption key itself.
    ///
    /// - Parameter passphrase: The passphrase. Opening a database throws if it is empty.
    public init(passphrase: String) {
      secret = Secret(Array(passphrase.utf8))
    }

    /// Creates a key from the bytes of the encryption key, which needs no derivation.
    ///
    /// - Parameter bytes: The 32 random bytes of the key, optionally followed by the 16 bytes of
    ///   the file's salt. Opening a database throws if the collection has another length.
    public init(bytes: some Collection<UInt8>) {
      // SQLCipher's form of such a key is x'…' with hexadecimal digits.
      let isValid = bytes.count == 32 || bytes.count == 48
      var text = [UInt8](repeating: UInt8(ascii: "'"), count: isValid ? 2 * bytes.count + 3 : 0)
      if isValid {
        text[0] = UInt8(ascii: "x")
        for (index, byte) in bytes.enumerated() {
          text[2 * index + 2] = Hex.uppercase(byte >> 4)
          text[2 * index + 3] = Hex.uppercase(byte & 15)
        }
      }
      secret = Secret(text)
    }

    /// Throws if the key isn't valid, or if this SQLite can't encrypt.
    func check() throws(SQLiteError) {
      guard Capabilities.hasEncryption else {
        throw SQLiteError(
          .misuse,
          "this libsqlite3 cannot encrypt databases; build the package with the trait SQLCipher")
      }
      guard secret.bytes.withLock({ !$0.isEmpty }) else {
        throw SQLiteError(
          .misuse,
          "the key is not valid: a passphrase must not be empty, and a key of bytes has 32 "
            + "or 48 of them")
      }
    }

    /// Makes a new connection encrypt and decrypt a database with this key (`sqlite3_key_v2`). Call
    /// this before any other use of the database.
    func set(on handle: ConnectionHandle, _ schema: String = "main") throws(SQLiteError) {
      try handle.check(
        unsafe secret.withBytes { unsafe sqlite3_key_v2(handle.pointer, schema, $0, $1) })
    }

    /// Encrypts all pages of a database with this key instead of the connection's key
    /// (`sqlite3_rekey_v2`). After a failure, the connection must not be used again.
    fileprivate func replace(on handle: ConnectionHandle) throws(SQLiteError) {
      try handle.check(
        unsafe secret.withBytes { unsafe sqlite3_rekey_v2(handle.pointer, "main", $0, $1) })
    }
  }
}

extension Database.Key: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The fixed text `Database.Key`, which doesn't reveal the key.
  public var description: String { "Database.Key" }

  /// The fixed text `Database.Key`, which doesn't reveal the key.
  public var debugDescription: String { description }

  /// A mirror without children, so that `dump` doesn't reveal the key.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The bytes of a key, which are overwritten with zeros when the object is released.
private final class Secret: Sendable {
  let bytes: Mutex<[UInt8]>

  init(_ bytes: consuming [UInt8]) {
    self.bytes = Mutex(bytes)
  }

  deinit {
    bytes.withLock { bytes in
      unsafe bytes.withUnsafeMutableBytes { buffer in
        guard let start = buffer.baseAddress else { return }
        // The compiler may omit other writes to memory that is released afterwards.
        #if canImport(Darwin)
          _ = unsafe memset_s(start, buffer.count, 0, buffer.count)
        #else
          unsafe explicit_bzero(start, buffer.count)
        #endif
      }
    }
  }

  func withBytes(_ body: (UnsafeRawPointer?, Int32) -> Int32) -> Int32 {
    bytes.withLock { bytes in
      unsafe bytes.withUnsafeBytes { unsafe body($0.baseAddress, Int32(clamping: $0.count)) }
    }
  }
}

extension Database {
  /// The key with which connections open the file now, or nil if the file isn't encrypted.
  package var key: Key? { file.key.withLock { $0 } }

  /// Encrypts the file with another key. Blocks the thread.
  ///
  /// The call waits until running reads and writes have ended, and new ones wait for it. All pages
  /// are encrypted in one transaction: if it fails, or if the process is killed before the commit,
  /// the file still has its old key. Afterwards, this `Database` uses the new key. No other
  /// `Database` or process may have the file open. SQLite detects this in WAL mode only.
  ///
  /// Copies of the file keep their keys. To encrypt a file that isn't encrypted, or to decrypt one,
  /// make a copy with `vacuum(into:key:)`.
  ///
  /// - Parameter key: The new key.
  /// - Throws: ``SQLiteError``, with ``ResultCode/misuse`` if the database isn't an encrypted file,
  ///   if `key` isn't valid, or inside a read or a write; with ``ResultCode/busy`` if another
  ///   connection has the file open, or if reads don't end within the busy timeout. The file then
  ///   keeps its key.
  public func rekey(to key: Key) throws {
    try checkMayRekey(to: key)
    try withoutTransaction { try self.rekey($0, to: key) }
  }

  /// Encrypts the file with another key, and suspends the task meanwhile.
  ///
  /// See the blocking ``rekey(to:)`` for details.
  ///
  /// - Parameter key: The new key.
  /// - Throws: The errors of the blocking form; `CancellationError` if the task was cancelled
  ///   before the encryption began.
  public func rekey(to key: Key) async throws {
    try checkMayRekey(to: key)
    try await withoutTransaction { try self.rekey($0, to: key) }
  }

  private func checkMayRekey(to key: Key) throws(SQLiteError) {
    try checkOutside()
    try key.check()
    guard path != nil, self.key != nil else {
      throw SQLiteError(
        .misuse,
        "the database is not an encrypted file, so it has no key to replace; make an encrypted copy "
          + "with vacuum(into:key:)")
    }
  }

  private func rekey(_ connection: Connection, to key: Key) throws {
    try withOnlyConnection {
      // With WAL, other connections could still read pages with the old key. SQLite leaves WAL mode
      // only if there are none.
      if try connection.pragma("journal_mode") == .text("wal") {
        _ = try connection.pragma("journal_mode", "=delete")
      }
      // Otherwise, the journal could reappear after a power cut and restore the old key.
      _ = try connection.pragma("synchronous", "=extra")
      try key.replace(on: connection.handle)
      file.key.withLock { $0 = key }
    }
  }

  /// Writes a copy of the database without unused space to a new file, encrypted with another key.
  /// The file appears when the copy is complete. Blocks the thread.
  ///
  /// Use this to encrypt a database that isn't encrypted yet, or to decrypt one.
  ///
  /// - Parameters:
  ///   - path: The path of the copy. A file that already exists must be empty and have no journals
  ///     next to it.
  ///   - key: The key of the copy, or nil for a copy that isn't encrypted.
  /// - Throws: ``SQLiteError``, with ``ResultCode/cannotOpen`` if the file exists and isn't empty,
  ///   ``ResultCode/misuse`` inside a read or a transaction, if `key` isn't valid, or if this
  ///   SQLite can't encrypt, or ``ResultCode/authorization`` if the database belongs to a cluster.
  ///   After an error, no copy exists.
  public func vacuum(into path: String, key: Key?) throws {
    guard try isEncrypting(key) else { return try vacuum(into: path) }
    let (copy, name) = try emptyCopy(at: path)
    try withoutTransaction { try $0.export(to: name, key) }
    try copy.publish(replacing: try checkIsFree(path) == .emptyFile)
  }

  /// Writes a copy of the database without unused space to a new file, encrypted with another key,
  /// and suspends the task meanwhile.
  ///
  /// See the blocking ``vacuum(into:key:)`` for details.
  ///
  /// - Parameters:
  ///   - path: The path of the copy. A file that already exists must be empty and have no journals
  ///     next to it.
  ///   - key: The key of the copy, or nil for a copy that isn't encrypted.
  /// - Throws: The errors of the blocking form; `CancellationError` if the task was cancelled.
  ///   After an error, no copy exists.
  public func vacuum(into path: String, key: Key?) async throws {
    guard try isEncrypting(key) else { return try await vacuum(into: path) }
    let (copy, name) = try emptyCopy(at: path)
    try await withoutTransaction { try $0.export(to: name, key) }
    try copy.publish(replacing: try checkIsFree(path) == .emptyFile)
  }

  /// Returns whether a copy with a key differs from this database in its encryption. Throws if the
  /// key isn't valid.
  private func isEncrypting(_ key: Key?) throws(SQLiteError) -> Bool {
    try key?.check()
    return key != nil || self.key != nil
  }
}

extension Connection {
  /// Copies the database to an empty file (`sqlcipher_export`).
  fileprivate func export(to path: String, _ key: Database.Key?) throws {
    try checkIsIdle()
    // With an empty key, SQLCipher doesn't use the key of this database.
    try executeChange("ATTACH \(path) AS magicdata_copy KEY ''")
    let result = Result {
      try key?.set(on: handle, "magicdata_copy")
      for setting in ["user_version", "application_id"] {
        guard let value = try pragma("main.\(setting)") else { continue }
        _ = try pragma("magicdata_copy.\(setting)", "=\(try Int(databaseValue: value))")
      }
      _ = try firstRow("SELECT sqlcipher_export('magicdata_copy')")
    }
    try executeChange("DETACH magicdata_copy")
    try result.get()
  }
}
