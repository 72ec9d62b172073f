// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// The declarations of CloudKit that MagicSync uses, without behavior. Nothing is ever run:
// `.ci/checks/cloudkit` only type-checks against this module.
//
// It was written on Linux and was never compared with an SDK. The signatures of the asynchronous
// methods are those of Apple's documentation. The headers of recent SDKs mark the classes as Sendable
// (`NS_SWIFT_SENDABLE`). `CKRecord` isn't Sendable here, which is stricter.
@_exported import Foundation

public final class CKContainer: Sendable {
  public static func `default`() -> CKContainer { fatalError() }
  public init(identifier: String) {}
  public func database(with databaseScope: CKDatabase.Scope) -> CKDatabase { fatalError() }
  public func accountStatus() async throws -> CKAccountStatus { fatalError() }
}

public enum CKAccountStatus: Int, Sendable {
  case couldNotDetermine, available, restricted, noAccount, temporarilyUnavailable
}

public final class CKDatabase: Sendable {
  public enum Scope: Int, Sendable { case `public` = 1, `private`, shared }

  public enum RecordZoneChange {
    public struct Modification {
      public let record: CKRecord
    }
    public struct Deletion {
      public let recordID: CKRecord.ID
      public let recordType: CKRecord.RecordType
    }
  }

  init() {}

  public func record(for recordID: CKRecord.ID) async throws -> CKRecord { fatalError() }

  public func recordZoneChanges(
    inZoneWith zoneID: CKRecordZone.ID, since changeToken: CKServerChangeToken?,
    desiredKeys: [CKRecord.FieldKey]? = nil, resultsLimit: Int? = nil
  ) async throws -> (
    modificationResultsByID: [CKRecord.ID: Result<
      CKDatabase.RecordZoneChange.Modification, any Error
    >], deletions: [CKDatabase.RecordZoneChange.Deletion], changeToken: CKServerChangeToken,
    moreComing: Bool
  ) { fatalError() }

  public func modifyRecords(
    saving recordsToSave: [CKRecord], deleting recordIDsToDelete: [CKRecord.ID],
    savePolicy: CKModifyRecordsOperation.RecordSavePolicy = .ifServerRecordUnchanged,
    atomically: Bool = true
  ) async throws -> (
    saveResults: [CKRecord.ID: Result<CKRecord, any Error>],
    deleteResults: [CKRecord.ID: Result<Void, any Error>]
  ) { fatalError() }

  public func modifyRecordZones(
    saving recordZonesToSave: [CKRecordZone], deleting recordZoneIDsToDelete: [CKRecordZone.ID]
  ) async throws -> (
    saveResults: [CKRecordZone.ID: Result<CKRecordZone, any Error>],
    deleteResults: [CKRecordZone.ID: Result<Void, any Error>]
  ) { fatalError() }
}

public enum CKModifyRecordsOperation {
  public enum RecordSavePolicy: Int, Sendable {
    case ifServerRecordUnchanged, changedKeys, allKeys
  }
}

public final class CKServerChangeToken: Sendable {
  init() {}
}

public final class CKRecordZone: Sendable {
  public final class ID: Hashable, Sendable {
    public init(zoneName: String, ownerName: String = "__defaultOwner__") {}
    public static func == (left: ID, right: ID) -> Bool { fatalError() }
    public func hash(into hasher: inout Hasher) {}
  }
  public init(zoneID: CKRecordZone.ID) {}
}

public protocol CKRecordValueProtocol {}

public final class CKAsset: CKRecordValueProtocol {
  public init(fileURL: URL) {}
  public var fileURL: URL? { fatalError() }
}

public class CKRecord {
  public typealias RecordType = String
  public typealias FieldKey = String

  public final class ID: Hashable, Sendable {
    public init(recordName: String, zoneID: CKRecordZone.ID) {}
    public var recordName: String { fatalError() }
    public static func == (left: ID, right: ID) -> Bool { fatalError() }
    public func hash(into hasher: inout Hasher) {}
  }

  public init(recordType: CKRecord.RecordType, recordID: CKRecord.ID) {}
  public subscript(key: CKRecord.FieldKey) -> (any CKRecordValueProtocol)? {
    get { fatalError() }
    set {}
  }
}

public struct CKError: Error {
  public enum Code: Int, Sendable {
    case internalError = 1, partialFailure, networkUnavailable, networkFailure, badContainer,
      serviceUnavailable, requestRateLimited, missingEntitlement, notAuthenticated,
      permissionFailure, unknownItem, invalidArguments, resultsTruncated, serverRecordChanged,
      serverRejectedRequest, assetFileNotFound, assetFileModified, incompatibleVersion,
      constraintViolation, operationCancelled, changeTokenExpired, batchRequestFailed, zoneBusy,
      badDatabase, quotaExceeded, zoneNotFound, limitExceeded, userDeletedZone,
      tooManyParticipants, alreadyShared, referenceViolation, managedAccountRestricted,
      participantMayNeedVerification, serverResponseLost, assetNotAvailable,
      accountTemporarilyUnavailable
  }
  public var code: Code { fatalError() }
  public var retryAfterSeconds: Double? { fatalError() }
  public var partialErrorsByItemID: [AnyHashable: any Error]? { fatalError() }
}
