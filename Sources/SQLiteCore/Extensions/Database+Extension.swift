import CSQLite
import Platform

extension Database {
  /// An SQLite extension: native code that adds functions, collations or virtual tables to each
  /// connection of a database (<https://www.sqlite.org/loadext.html>).
  ///
  ///     var options = Database.Options()
  ///     options.extensions = [.library("/usr/lib/sqlite3/vec0.so")]
  ///
  /// As soon as it is loaded, an extension can execute any code with the permissions of the
  /// program. No option of the library limits what it does: it can read and change the memory and
  /// the files of the program. Use only extensions that you would link into the program, and never
  /// take a path from a user or a file.
  @safe public struct Extension: Sendable {
    /// The code of an extension.
    @safe enum Code: Sendable {
      case library(path: String, entryPoint: String?)
      case linked(
        name: String,
        @Sendable (OpaquePointer, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Int32)
    }

    let code: Code

    /// An extension in a shared library, which is loaded at run time (`sqlite3_load_extension`).
    ///
    /// Opening a database with this extension throws ``SQLiteError``: with
    /// ``ResultCode/cannotOpen`` if the file is missing or can't be loaded, with
    /// ``ResultCode/notFound`` if it has no such entry point, with ``ResultCode/error`` if the
    /// extension fails to initialize, and with ``ResultCode/misuse`` if a name is empty or contains
    /// a NUL character, or if SQLite can't load extensions
    /// (``Capabilities/hasLoadableExtensions``).
    ///
    /// - Parameters:
    ///   - path: The path of the shared library, with or without the suffix `.so`, `.dylib` or
    ///     `.dll`. The system searches its library folders for a name without a slash. Write
    ///     `./name` for a file in the current folder.
    ///   - entryPoint: The name of the C function that initializes the extension. If it is nil,
    ///     SQLite calls `sqlite3_extension_init`, or else the function whose name it derives from
    ///     the name of the file, such as `sqlite3_vec_init` for `vec0.so`. SQLite can't check that
    ///     the function is an entry point.
    public static func library(_ path: String, entryPoint: String? = nil) -> Extension {
      Extension(code: .library(path: path, entryPoint: entryPoint))
    }

    /// An extension that is linked into the program. Unlike `sqlite3_auto_extension`, it is added
    /// only to the connections of databases with these options.
    ///
    ///     options.extensions = [.linked("vec0") { sqlite3_vec_init($0, $1, nil) }]
    ///
    /// Compile the extension with the macro `SQLITE_CORE`, so that it calls SQLite directly.
    /// Otherwise, it calls SQLite through the third argument of its entry point, which you can't
    /// provide.
    ///
    /// If `initialize` returns an error code, opening a database with this extension throws
    /// ``SQLiteError`` with ``ResultCode/error``.
    ///
    /// - Parameters:
    ///   - name: The name of the extension, for error messages.
    ///   - initialize: A closure that calls the entry point of the extension and returns its
    ///     result. It is called on any thread, once for each connection, and also for a temporary
    ///     connection before a database file is created. The first argument is the `sqlite3`
    ///     pointer of the connection. The second one is the address of the error message, which the
    ///     entry point allocates with `sqlite3_mprintf`. Both are valid only during the call.
    public static func linked(
      _ name: String,
      initialize:
        @escaping @Sendable (
          _ connection: OpaquePointer, _ message: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
        ) -> Int32
    ) -> Extension {
      unsafe Extension(code: .linked(name: name, initialize))
    }
  }
}

extension ConnectionHandle {
  /// Adds extensions to the connection. Afterwards, neither SQL nor C can load extensions.
  func add(_ extensions: [Database.Extension], isTrusted: Bool) throws(SQLiteError) {
    guard isTrusted || extensions.isEmpty else {
      throw SQLiteError(
        .misuse,
        "an untrusted database can't be opened with extensions: their code may not be prepared for "
          + "malicious content; open it without extensions")
    }
    for added in extensions {
      switch added.code {
      case .library(let path, let entryPoint): try load(path, entryPoint)
      case .linked(let name, let initialize):
        var message: UnsafeMutablePointer<CChar>?
        let code = unsafe initialize(pointer, &message)
        let text = unsafe ConnectionHandle.text(of: message)
        // The code `SQLITE_OK_LOAD_PERMANENTLY` also means success.
        guard code & 0xff == SQLITE_OK else {
          throw ConnectionHandle.failure(of: name, text ?? ResultCode(rawValue: code).message)
        }
      }
    }
    try configure(SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, false)
  }

  /// Loads an extension from a shared library (`sqlite3_load_extension`).
  private func load(_ path: String, _ entryPoint: String?) throws(SQLiteError) {
    for name in [path, entryPoint ?? path] where name.isEmpty || containsNUL(name) {
      throw SQLiteError(
        .misuse, "the path or entry point of an extension is empty or contains a NUL character")
    }
    guard csqlite_has_load_extension() != 0 else {
      throw SQLiteError(
        .misuse,
        "\(path): this libsqlite3 cannot load extensions: it was compiled with "
          + "SQLITE_OMIT_LOAD_EXTENSION; link the extension into the program")
    }
    // This option enables only the C function, not the SQL function.
    try configure(SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, true)
    var message: UnsafeMutablePointer<CChar>?
    let code = unsafe sqlite3_load_extension(pointer, path, entryPoint, &message)
    let text = unsafe ConnectionHandle.text(of: message) ?? ResultCode(rawValue: code).message
    try configure(SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, false)
    guard code != SQLITE_OK else { return }
    let prefix = "error during initialization: "
    if text.hasPrefix(prefix) {
      throw ConnectionHandle.failure(of: path, String(text.dropFirst(prefix.count)))
    }
    if let reason = ConnectionHandle.loadingFailure(path) {
      throw SQLiteError(.cannotOpen, "\(path): the extension cannot be loaded: \(reason)")
    }
    throw SQLiteError(
      .notFound,
      "\(path): the extension has no such entry point: \(text); pass its name as entryPoint")
  }

  private static func failure(of name: String, _ message: String) -> SQLiteError {
    SQLiteError(.error, "\(name): the extension cannot be initialized: \(message)")
  }

  /// Returns the reason why the system can't load a shared library; nil if it can load it.
  ///
  /// SQLite reports the reason for the last name that it tries, which is that of a missing file
  /// with a second suffix.
  private static func loadingFailure(_ path: String) -> String? {
    let file =
      unsafe access(path, F_OK) != 0 && access(path + suffix, F_OK) == 0 ? path + suffix : path
    if let library = unsafe dlopen(file, RTLD_NOW) {
      unsafe dlclose(library)
      return nil
    }
    return unsafe dlerror().map { unsafe String(cString: $0) }
  }

  #if canImport(Darwin)
    private static let suffix = ".dylib"
  #else
    private static let suffix = ".so"
  #endif

  /// Returns the text of an error message that SQLite has allocated, and frees it.
  @unsafe private static func text(of message: UnsafeMutablePointer<CChar>?) -> String? {
    defer { unsafe sqlite3_free(message) }
    return unsafe message.map { unsafe String(cString: $0) }
  }
}
