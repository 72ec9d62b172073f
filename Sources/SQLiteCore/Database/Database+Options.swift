extension Database {
  /// The options with which a database and its connections are opened.
  ///
  /// With the defaults, a committed write survives a power cut.
  public struct Options: Sendable {
    /// The permitted operations on the file.
    public enum Mode: Sendable {
      /// Reads only. The file must exist.
      case readOnly
      /// Reads and writes. The file must exist.
      case readWrite
      /// Reads and writes. The file is created if it doesn't exist; its folder must exist.
      case readWriteCreate
    }

    /// The journal that SQLite uses for transactions (`PRAGMA journal_mode`).
    public enum JournalMode: String, Sendable {
      /// A write-ahead log. Readers and the writer don't wait for each other.
      case wal
      /// A rollback journal that is deleted after each transaction.
      case delete
      /// A rollback journal that is truncated after each transaction.
      case truncate
      /// A rollback journal whose header is overwritten after each transaction.
      case persist
    }

    /// The durability of commits (`PRAGMA synchronous`).
    public enum Synchronous: String, Sendable {
      /// Commits survive a power cut, unless the disk falsely reports that writes are complete.
      /// With ``JournalMode/delete``, SQLite's own `full` doesn't guarantee this, so the library
      /// then uses ``extra``.
      case full
      /// Commits survive a power cut, as with ``full``. SQLite also syncs the folder after it has
      /// deleted a rollback journal, which might otherwise reappear after the power cut and undo
      /// the last commit.
      case extra
      /// In WAL mode, a power cut may undo the last commits but doesn't damage the database. In
      /// other journal modes, there is a very small chance that a power cut damages it.
      case normalLosesLastCommitsOnPowerCut = "normal"
      /// SQLite never waits for the disk. A power cut may damage the database.
      case offMayCorruptOnPowerCut = "off"
    }

    /// The handling of deleted content in the file (`PRAGMA secure_delete`).
    public enum SecureDelete: String, Sendable {
      /// Deleted content is overwritten with zeros.
      case on
      /// Deleted content is overwritten with zeros if that needs no additional writes.
      case fast
      /// Deleted content stays in the file until the space is reused.
      case off
    }

    /// The permitted operations on the file. By default, the file can be read and written, and is
    /// created if it doesn't exist.
    public var mode = Mode.readWriteCreate
    /// The journal that SQLite uses for transactions.
    public var journalMode = JournalMode.wal
    /// The durability of commits.
    public var synchronous = Synchronous.full
    /// A Boolean value that indicates whether SQLite enforces foreign keys (`PRAGMA foreign_keys`).
    public var foreignKeys = true
    /// A Boolean value that indicates whether a trigger can fire itself again, and whether the
    /// deletions of a REPLACE fire delete triggers (`PRAGMA recursive_triggers`).
    public var recursiveTriggers = true
    /// The maximum time to wait for a lock that another connection or process holds.
    public var busyTimeout = Duration.seconds(5)
    /// The maximum number of reader connections, in addition to the writer. The library never opens
    /// more than 1,000. With zero, in memory, and in journal modes other than WAL unless ``mode`` is
    /// `readOnly`, reads and writes share one connection.
    public var maximumReaderCount = 4
    /// The maximum number of prepared statements that each connection caches.
    public var statementCacheCapacity = 128
    /// The size in bytes to which SQLite truncates a larger journal after a checkpoint or
    /// transaction (`PRAGMA journal_size_limit`).
    public var journalSizeLimit = 64 << 20
    /// The maximum size of each connection's page cache in KiB, or nil for SQLite's default
    /// (`PRAGMA cache_size`). If it is negative or greater than `Int32.max`, opening throws
    /// ``ResultCode/range``.
    public var cacheSize: Int?
    /// The maximum number of bytes of the file that are mapped into memory, or nil for SQLite's
    /// default (`PRAGMA mmap_size`). An I/O error in mapped memory terminates the program.
    public var mappedSize: Int?
    /// The handling of deleted content in the file, or nil for SQLite's default.
    public var secureDelete: SecureDelete?
    /// The key of an encrypted file, or nil for a file that isn't encrypted. A new file is encrypted
    /// with this key.
    ///
    /// Opening throws ``ResultCode/misuse`` if SQLite can't encrypt
    /// (``Capabilities/hasEncryption``), and ``ResultCode/notADatabase`` if the key is wrong or the
    /// file isn't encrypted; the file is then unchanged. The options of an open database don't
    /// contain the key.
    public var key: Key?
    /// The POSIX permissions of a database file that the library creates.
    public var filePermissions: UInt16 = 0o600
    /// A Boolean value that indicates whether the path can be a symbolic link. If false, opening a
    /// link throws ``ResultCode/cannotOpenSymbolicLink``.
    public var followsSymbolicLinks = true
    /// A Boolean value that indicates whether views, triggers, CHECK constraints, indexes and
    /// generated columns can use functions and virtual tables that SQLite doesn't consider harmless
    /// (`PRAGMA trusted_schema`).
    public var trustedSchema = false
    /// A Boolean value that indicates whether SQLite treats a name in double quotes as a string
    /// literal if no column has that name (`SQLITE_DBCONFIG_DQS_DML`, `SQLITE_DBCONFIG_DQS_DDL`).
    public var doubleQuotedStrings = false
    /// A Boolean value that indicates whether SQL can write to the schema and to shadow tables, and
    /// use pragmas that can damage the file (the opposite of `SQLITE_DBCONFIG_DEFENSIVE`).
    public var allowsSchemaDamage = false
    /// A Boolean value that indicates whether SQLite checks each page when reading it (`PRAGMA
    /// cell_size_check`).
    public var checksCells = false
    /// The limits of each connection. Limits that aren't listed keep SQLite's defaults. If a value
    /// is negative, opening throws ``ResultCode/range``.
    public var limits: [ConnectionLimit: Int] = [:]
    /// The maximum size of the schema's SQL in bytes, or nil for no maximum. Opening a connection
    /// throws ``ResultCode/tooBig`` if the schema is larger.
    public var maximumSchemaSize: Int?
    /// The maximum size of a view's SQL in bytes, including everything that it references, or nil
    /// for no maximum. Opening a connection throws ``ResultCode/tooBig`` if a view is larger.
    ///
    /// SQLite expands views, subqueries and column expressions at each place that references them.
    /// Views of a few lines can therefore keep its compiler busy for hours or use up all memory,
    /// and deadlines don't interrupt the compiler. The size is an estimate, which tends to be too
    /// high: if a view references a column of another view five times, that view may count five
    /// times.
    public var maximumViewSize: Int?
    /// The names of the modules that virtual tables of the schema can use, such as `fts5`, or nil
    /// for any. Checked when a connection is opened.
    ///
    /// With a non-nil value, full-text search tables must also use one of SQLite's own tokenizers,
    /// with a value for each of its options.
    public var allowedModules: Set<String>?
    /// The extensions that are added to each connection, in this order. They are added when the
    /// connection is opened, before the schema is read and before ``prepareConnection``. SQL can't
    /// load further extensions with `load_extension`.
    ///
    /// If an extension can't be added, the connection isn't opened, and the access or initializer
    /// that needs it throws. Options that are derived from ``untrusted`` reject extensions, and so
    /// does a database of a cluster.
    public var extensions: [Extension] = []
    /// Whether the options are those of ``untrusted``, possibly with changes.
    fileprivate(set) var isUntrusted = false
    /// The maximum duration of an access for which no deadline is given, including the time that it
    /// waits, or nil for no maximum.
    public var accessTimeout: Duration?
    /// The maximum duration of a statement's last run for ``Database/readBriefly(deadline:_:)`` to
    /// run the statement on the calling task's thread, which avoids switching threads. With zero,
    /// such reads never run on that thread.
    public var longestReadOnTask = Duration.microseconds(100)
    /// The configuration of group commit, which merges concurrent writes into one transaction. Only
    /// writes that opt in are merged.
    public var groupCommit = GroupCommit()
    /// A Boolean value that indicates whether the library updates the statistics of SQLite's query
    /// planner (`PRAGMA optimize`).
    ///
    /// It does so when the database is closed, and from time to time while it is open, once an
    /// indexed table has 1,000 rows. An update delays other accesses by about a tenth of a second
    /// at most.
    public var updatesStatistics = true
    /// The number of changed rows after which the query planner's statistics are updated while the
    /// database is open. Counted from the last update.
    package var statisticsInterval: Int64 = 100_000
    /// The name of the SQLite VFS to use, or nil for the default one.
    public var vfs: String?
    /// A Boolean value that indicates whether the file is on a read-only medium and can't change
    /// while it is open. SQLite then takes no locks and ignores journals. If the file changes
    /// nevertheless, queries return wrong results.
    public var isImmutable = false
    /// Whether the change recorder uses the preupdate hook if SQLite has one.
    package var usesPreupdateHook = true
    /// Whether an existing file keeps its journal mode. ``journalMode`` then applies to new files
    /// only.
    package var keepsJournalMode = false
    /// A closure that runs on the first connection before anything in the file changes, including
    /// the journal mode. If it throws, the file is left unchanged.
    package var checkBeforeUse: (@Sendable (Connection) throws -> Void)?
    /// A closure that adds functions to a connection when a statement first uses a function that
    /// SQLite doesn't know, or compiles SQL of the schema. Adding them to each new connection would
    /// take a tenth of the time of opening it (benchmark `open`).
    package var addFunctions: (@Sendable (Connection) throws -> Void)?
    /// A closure that runs on each new connection before its first use, for example to add
    /// collations and functions, or to change settings. If it throws, the connection isn't opened,
    /// and the access or initializer that needs it throws a ``SQLiteError`` that describes the
    /// error.
    public var prepareConnection: (@Sendable (Connection) throws -> Void)?

    /// Creates the default options, which open a file for reading and writing, and create it if
    /// necessary.
    public init() {}

    /// Creates the default options with a different mode.
    ///
    /// - Parameter mode: The permitted operations on the file.
    public init(mode: Mode) {
      self.mode = mode
    }

    /// The default options with the mode `readOnly`.
    public static var readOnly: Options { Options(mode: .readOnly) }

    /// Options for a file from an untrusted source. They open it for reading only, set low limits,
    /// check each page, don't trust the schema, and limit each access to ten seconds.
    ///
    /// A damaged or malicious file can then only cause errors or return arbitrary data. It can't
    /// attach other files, call functions with side effects from its views and triggers, or keep a
    /// statement running. Opening throws if the schema contains more than 8 MiB of SQL, if a view
    /// expands to more than that, or if virtual tables use modules other than those of full-text
    /// search and R*Tree, or if the options contain ``extensions``, whose code may not be prepared
    /// for malicious content.
    ///
    /// Two risks remain. SQLite's compiler may take a second or two and some hundred megabytes, and
    /// can't be interrupted meanwhile. Changes that another program makes to the file while it is
    /// open aren't checked.
    public static var untrusted: Options {
      var options = Options(mode: .readOnly)
      options.isUntrusted = true
      options.updatesStatistics = false
      options.checksCells = true
      options.mappedSize = 0
      options.accessTimeout = .seconds(10)
      options.maximumSchemaSize = 8 << 20
      options.maximumViewSize = 8 << 20
      options.allowedModules = VirtualTableCheck.ownModules
      options.limits = [
        .length: 64 << 20, .sqlLength: 1 << 20, .expressionDepth: 100, .compoundSelect: 30,
        .instructions: 25_000, .functionArguments: 16, .attachedDatabases: 0,
        .patternLength: 1_000, .triggerDepth: 20, .variables: 10_000,
      ]
      return options
    }
  }
}
