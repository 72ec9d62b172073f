extension Database {
  /// How a database is opened, and how its connections behave.
  ///
  /// The defaults lose nothing: an acknowledged write survives a power cut.
  public struct Options: Sendable {
    /// The operations that are allowed on the file.
    public enum Mode: Sendable {
      /// Read only; the file must exist.
      case readOnly
      /// Read and write; the file must exist.
      case readWrite
      /// Read and write; the file is made if it does not exist, in a folder that exists.
      case readWriteCreate
    }

    /// Where changes go before they are in the database file (`PRAGMA journal_mode`).
    public enum JournalMode: String, Sendable {
      /// A write-ahead log: readers and the writer do not wait for each other.
      case wal
      /// A rollback journal that is deleted after each transaction.
      case delete
      /// A rollback journal that is truncated after each transaction.
      case truncate
      /// A rollback journal whose header is overwritten after each transaction.
      case persist
    }

    /// How durable a commit is (`PRAGMA synchronous`).
    public enum Synchronous: String, Sendable {
      /// A commit survives a power cut, if the disk is honest. With ``JournalMode/delete`` that takes
      /// what ``extra`` does, and is that.
      case full
      /// As full in SQLite's own sense, and the folder is synced after a journal is deleted.
      case extra
      /// In WAL mode a power cut may undo the last commits, but not damage the database.
      case normalLosesLastCommitsOnPowerCut = "normal"
      /// A power cut may damage the database.
      case offMayCorruptOnPowerCut = "off"
    }

    /// The treatment of the bytes of deleted content (`PRAGMA secure_delete`).
    public enum SecureDelete: String, Sendable {
      /// They are overwritten with zeros.
      case on
      /// They are overwritten where that costs no further writes.
      case fast
      /// They stay until the space is used again.
      case off
    }

    /// The operations that are allowed on the file.
    public var mode = Mode.readWriteCreate
    /// Where changes go first.
    public var journalMode = JournalMode.wal
    /// How durable a commit is.
    public var synchronous = Synchronous.full
    /// Whether foreign keys are enforced.
    public var foreignKeys = true
    /// Whether deletions by REPLACE fire triggers, and triggers fire triggers.
    public var recursiveTriggers = true
    /// How long to wait for a lock that another connection or process holds.
    public var busyTimeout = Duration.seconds(5)
    /// The most connections that read at once, besides the writer. Used in WAL mode only: in other
    /// modes, and in memory, reads and writes share one connection.
    public var maximumReaderCount = 4
    /// The most prepared statements that each connection keeps.
    public var statementCacheCapacity = 128
    /// The size in bytes to which the journal is cut after a checkpoint.
    public var journalSizeLimit = 64 << 20
    /// The page cache of each connection in KiB, or nil for SQLite's own choice.
    public var cacheSize: Int?
    /// How much of the file is mapped into memory, in bytes, or nil for SQLite's own choice. An
    /// input or output error in mapped memory ends the program.
    public var mappedSize: Int?
    /// The treatment of deleted content, or nil for SQLite's own choice.
    public var secureDelete: SecureDelete?
    /// The permissions of a file that is made.
    public var filePermissions: UInt16 = 0o600
    /// Whether the path may be a symbolic link.
    public var followsSymbolicLinks = true
    /// Whether functions and virtual tables may be used by the schema: views, triggers, checks, indexes,
    /// generated columns.
    public var trustedSchema = false
    /// Whether text in double quotes that names no column is a string, as in old versions of SQLite.
    public var doubleQuotedStrings = false
    /// Whether SQL may damage the file or write to shadow tables and the schema (the opposite of
    /// `SQLITE_DBCONFIG_DEFENSIVE`).
    public var allowsSchemaDamage = false
    /// Whether each page is checked when it is read (`PRAGMA cell_size_check`).
    public var checksCells = false
    /// Limits of each connection; what is not named keeps SQLite's own.
    public var limits: [ConnectionLimit: Int] = [:]
    /// How many bytes of SQL the schema may have, or nil for any number; looked at when a connection is
    /// opened.
    public var maximumSchemaSize: Int?
    /// How many bytes of SQL a view may come to with all that it names, or nil for any number; looked at
    /// when a connection is opened.
    ///
    /// SQLite copies views, subqueries and expressions of columns wherever they are named, so that views of
    /// a few lines can keep its compiler busy for hours or take all memory, and no deadline reaches it
    /// there. The size is estimated, rather too high: a view on a view that names a column five times may
    /// count five times.
    public var maximumViewSize: Int?
    /// The modules that virtual tables of the schema may use, such as `fts5`, or nil for any; looked at when a
    /// connection is opened.
    ///
    /// If it is not nil, full-text search must also name a tokenizer of SQLite's own, each option of it with its
    /// value.
    public var allowedModules: Set<String>?
    /// How long an access may take that names no deadline of its own, or nil for as long as it takes.
    public var accessTimeout: Duration?
    /// How long a statement may have taken the last time, if the next read by it is to run on the thread of the task
    /// that asks for it, without switching threads; zero for none. See ``Database/readBriefly(deadline:_:)``.
    public var longestReadOnTask = Duration.microseconds(100)
    /// How writes that wait at the same time, and ask for it, are merged into one transaction.
    public var groupCommit = GroupCommit()
    /// Whether the statistics of SQLite's planner are updated (`PRAGMA optimize`): when the database is closed, and now and
    /// then while it is open, once no table is small any more. Nobody waits for it longer than about a tenth of a second.
    public var updatesStatistics = true
    /// After how many changed rows the statistics are looked at while the database is open.
    package var statisticsInterval: Int64 = 100_000
    /// The name of the VFS, or nil for the system's.
    public var vfs: String?
    /// Whether the file is on a read-only medium and cannot change while it is open: no locks are
    /// taken and no journal is looked for. Wrong answers if it does change.
    public var isImmutable = false
    /// Whether the recorder of changes uses the preupdate hook where there is one.
    package var usesPreupdateHook = true
    /// Whether the file keeps the journal mode that it has; ``journalMode`` is then for new files.
    package var keepsJournalMode = false
    /// Runs on the first connection before anything of the file is changed, the journal mode included. If it throws, the
    /// file stays as it is.
    package var checkBeforeUse: (@Sendable (Connection) throws -> Void)?
    /// Adds functions to a connection when a statement first needs one that SQLite does not know: to add them when each
    /// connection is opened took a tenth of the opening (benchmark `open`).
    package var addFunctions: (@Sendable (Connection) throws -> Void)?
    /// Runs on each new connection before its first use, for collations, functions and settings.
    public var prepareConnection: (@Sendable (Connection) throws -> Void)?

    /// The defaults.
    public init() {}

    /// The defaults with another mode.
    ///
    /// - Parameter mode: The operations that are allowed on the file.
    public init(mode: Mode) {
      self.mode = mode
    }

    /// Reading only.
    public static var readOnly: Options { Options(mode: .readOnly) }

    /// For a file from somewhere else: reading only, with low limits, checks of each page, nothing
    /// of the file's own trusted, and ten seconds for each access.
    ///
    /// A damaged or hostile file then gives an error or some data; it cannot attach other files,
    /// run functions with effects from its views and triggers, or keep a statement running. A file whose
    /// schema is larger than 8 MiB of SQL, or whose views come to more than that, is refused, and so is one whose
    /// virtual tables use other modules than those of full-text search and of R*Trees. What
    /// remains: up to that size SQLite's compiler may take a second or two and some hundred megabytes,
    /// in which no deadline or cancellation reaches it; and a program that changes the file while it is
    /// open is not looked at again.
    public static var untrusted: Options {
      var options = Options(mode: .readOnly)
      options.updatesStatistics = false
      options.checksCells = true
      options.mappedSize = 0
      options.accessTimeout = .seconds(10)
      options.maximumSchemaSize = 8 << 20
      options.maximumViewSize = 8 << 20
      options.allowedModules = SchemaCheck.ownModules
      options.limits = [
        .length: 64 << 20, .sqlLength: 1 << 20, .expressionDepth: 100, .compoundSelect: 30,
        .instructions: 25_000, .functionArguments: 16, .attachedDatabases: 0,
        .patternLength: 1_000, .triggerDepth: 20, .variables: 10_000,
      ]
      return options
    }
  }
}
