#if canImport(CloudKit)
  public import CloudKit
  import Essentials
  import Synchronization

  /// A ``SyncFolder`` in CloudKit. Each file is a record with one asset, in a zone for the sync.
  ///
  ///     let zone = CKRecordZone.ID(zoneName: "cities")
  ///     let folder = CloudKitSyncFolder(CKContainer.default(), zone: zone)
  ///     let magic = try await MagicData(path: path, syncedThrough: folder)
  ///
  /// In the private database, the devices of one user exchange files, and the zone is created when
  /// it is first needed. To share the store with other people, share the zone with
  /// `CKShare(recordZoneID:)`. Participants pass the zone that they were invited to, with the scope
  /// `.shared`. The record type has one field, `content`, which needs no index.
  ///
  /// - Warning: This type has never been run. It was written on Linux, where it is only compiled
  ///   against a stub of CloudKit's declarations. Test it with your container before you rely on it.
  public final class CloudKitSyncFolder: SyncFolder {
    private static let field = "content"
    /// The number of attempts if CloudKit asks to repeat a request later.
    private static let attemptCount = 3
    /// The longest time in seconds to wait before an attempt. After a longer one, the call fails.
    private static let longestWait = 30.0

    /// The names of the files after the last change that was fetched.
    private struct Listing {
      var names: Set<String> = []
      var token: CKServerChangeToken?
    }

    private let container: CKContainer
    private let scope: CKDatabase.Scope
    private let zone: CKRecordZone.ID
    private let recordType: CKRecord.RecordType
    private let listing = Mutex(Listing())

    private var database: CKDatabase { container.database(with: scope) }

    /// Creates a folder in a zone.
    ///
    /// - Parameters:
    ///   - container: The container.
    ///   - zone: The zone. It must contain no other records, and can't be the default zone.
    ///   - scope: The database of the zone: `.private`, or `.shared` for a zone that another user
    ///     has shared.
    ///   - recordType: The type of the records.
    public init(
      _ container: CKContainer, zone: CKRecordZone.ID, scope: CKDatabase.Scope = .private,
      recordType: CKRecord.RecordType = "MagicSyncFile"
    ) {
      self.container = container
      self.zone = zone
      self.scope = scope
      self.recordType = recordType
    }

    /// Returns the names of all files. Fetches only the changes since the last call.
    ///
    /// - Returns: The names; an empty array if the zone of a private database doesn't exist yet.
    /// - Throws: ``CloudKitSyncError`` if the zone can't be read.
    public func list() async throws -> [String] {
      try await checkAccount()
      var known = listing.withLock { $0 }
      while true {
        do {
          let token = known.token
          let changes = try await retrying {
            try await self.database.recordZoneChanges(
              inZoneWith: self.zone, since: token, desiredKeys: [])
          }
          for id in changes.modificationResultsByID.keys { known.names.insert(id.recordName) }
          for deletion in changes.deletions { known.names.remove(deletion.recordID.recordName) }
          known.token = changes.changeToken
          guard changes.moreComing else { break }
        } catch CloudKitSyncError.other(.changeTokenExpired, _) where known.token != nil {
          known = Listing()
        } catch CloudKitSyncError.zoneMissing where scope == .private {
          known = Listing()
          break
        }
      }
      let found = known
      listing.withLock { $0 = found }
      return found.names.sorted()
    }

    /// Returns the content of a file.
    ///
    /// - Parameter name: The name of the file.
    /// - Returns: The content, or nil if the file doesn't exist.
    /// - Throws: ``CloudKitSyncError`` if the record can't be fetched; an error of the file system
    ///   if its asset can't be read.
    public func read(_ name: String) async throws -> Data? {
      try await checkAccount()
      let id = CKRecord.ID(recordName: name, zoneID: zone)
      do {
        let record = try await retrying { try await self.database.record(for: id) }
        guard let asset = record[Self.field] as? CKAsset, let url = asset.fileURL else {
          return nil
        }
        return try Data(contentsOf: url)
      } catch CloudKitSyncError.other(.unknownItem, _) {
        return nil
      } catch CloudKitSyncError.zoneMissing where scope == .private {
        return nil
      }
    }

    /// Creates a file. An existing record is never replaced: a new record has no change tag, so
    /// CloudKit rejects it if there is one of that name.
    ///
    /// - Parameters:
    ///   - name: The name of the file.
    ///   - content: The content.
    /// - Returns: False if a file of that name exists, which then stays unchanged.
    /// - Throws: ``CloudKitSyncError`` if the record can't be saved; an error of the file system if
    ///   the content can't be written to a temporary file.
    public func create(_ name: String, _ content: Data) async throws -> Bool {
      try await checkAccount()
      let url = FileManager.default.temporaryDirectory.appendingPathComponent(
        "magicdata-\(UUID().uuidString)")
      try content.write(to: url)
      defer { try? FileManager.default.removeItem(at: url) }
      do {
        do {
          try await save(name, url)
        } catch CloudKitSyncError.zoneMissing where scope == .private {
          try await createZone()
          try await save(name, url)
        }
        return true
      } catch CloudKitSyncError.other(.serverRecordChanged, _) {
        return false
      }
    }

    /// Deletes a file. Does nothing if it doesn't exist.
    ///
    /// - Parameter name: The name of the file.
    /// - Throws: ``CloudKitSyncError`` if the record can't be deleted.
    public func remove(_ name: String) async throws {
      try await checkAccount()
      let id = CKRecord.ID(recordName: name, zoneID: zone)
      do {
        try await retrying {
          let results = try await self.database.modifyRecords(
            saving: [], deleting: [id], savePolicy: .ifServerRecordUnchanged, atomically: false)
          try results.deleteResults[id]?.get()
        }
      } catch CloudKitSyncError.other(.unknownItem, _) {
        return
      } catch CloudKitSyncError.zoneMissing where scope == .private {
        return
      }
    }

    private func save(_ name: String, _ url: URL) async throws {
      let id = CKRecord.ID(recordName: name, zoneID: zone)
      try await retrying {
        let record = CKRecord(recordType: self.recordType, recordID: id)
        record[Self.field] = CKAsset(fileURL: url)
        let results = try await self.database.modifyRecords(
          saving: [record], deleting: [], savePolicy: .ifServerRecordUnchanged, atomically: false)
        _ = try results.saveResults[id]?.get()
      }
    }

    private func createZone() async throws {
      try await retrying {
        let results = try await self.database.modifyRecordZones(
          saving: [CKRecordZone(zoneID: self.zone)], deleting: [])
        _ = try results.saveResults[self.zone]?.get()
      }
    }

    private func checkAccount() async throws {
      switch try await retrying({ try await self.container.accountStatus() }) {
      case .available: return
      case .noAccount: throw CloudKitSyncError.accountMissing
      default: throw CloudKitSyncError.accountUnavailable
      }
    }

    /// Runs a request. If CloudKit asks to repeat it later, waits and runs it again.
    ///
    /// - Throws: ``CloudKitSyncError``; `CancellationError` if the task was cancelled.
    private func retrying<Result>(_ body: () async throws -> Result) async throws -> Result {
      var attempt = 1
      while true {
        do {
          return try await body()
        } catch let error as CKError {
          let cause = error.onlyCause
          guard let seconds = cause.retryAfterSeconds else { throw CloudKitSyncError(cause) }
          guard attempt < Self.attemptCount, seconds <= Self.longestWait else {
            throw CloudKitSyncError.busy(retryAfter: .seconds(seconds))
          }
          attempt += 1
          try await Task.sleep(for: .seconds(seconds))
        }
      }
    }
  }

  extension CKError {
    /// The error of the item if a request with one item failed partly; otherwise the error itself.
    fileprivate var onlyCause: CKError {
      guard code == .partialFailure,
        let item = partialErrorsByItemID?.values.lazy.compactMap({ $0 as? CKError }).first
      else { return self }
      return item
    }
  }

  /// An error of a ``CloudKitSyncFolder``.
  public enum CloudKitSyncError: Error, Sendable, CustomStringConvertible {
    /// The device isn't signed in to iCloud.
    case accountMissing
    /// The iCloud account can't be used at the moment, or its use is restricted.
    case accountUnavailable
    /// The zone doesn't exist, for example because its owner no longer shares it.
    case zoneMissing
    /// The user has deleted the data of this app in the settings of iCloud. The files aren't written
    /// again by themselves.
    case zoneDeletedByUser
    /// The user's iCloud storage is full.
    case storageFull
    /// CloudKit asks not to repeat the request before some time has passed.
    case busy(retryAfter: Duration)
    /// Another error, with CloudKit's message.
    case other(CKError.Code, String)

    init(_ error: CKError) {
      self =
        switch error.code {
        case .notAuthenticated: .accountMissing
        case .accountTemporarilyUnavailable, .managedAccountRestricted: .accountUnavailable
        case .zoneNotFound: .zoneMissing
        case .userDeletedZone: .zoneDeletedByUser
        case .quotaExceeded: .storageFull
        default: .other(error.code, error.localizedDescription)
        }
    }

    /// A description of the error.
    public var description: String {
      switch self {
      case .accountMissing: "this device is not signed in to iCloud"
      case .accountUnavailable: "the iCloud account cannot be used at the moment"
      case .zoneMissing: "the zone of the sync does not exist in CloudKit"
      case .zoneDeletedByUser: "the user has deleted the data of the sync in iCloud"
      case .storageFull: "the iCloud storage is full"
      case .busy(let time): "CloudKit asks to wait for \(time.components.seconds) seconds"
      case .other(let code, let message): "CloudKit error \(code.rawValue): \(message)"
      }
    }
  }
#endif
