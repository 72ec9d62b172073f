extension SyncProblem: CustomStringConvertible {
  /// A description of the problem. It contains names of files, tables and columns, but no values.
  public var description: String {
    switch self {
    case .missingFile(let name): "\(name) is missing, although later files exist"
    case .damagedFile(let name): "\(name) is damaged or incomplete"
    case .newerFormat(let name): "\(name) was written by a newer version of MagicData"
    case .wrongKey(let name): "\(name) cannot be read with the key of this store"
    case .otherSync(let name): "\(name) belongs to a sync with another name"
    case .otherStore(let name): "\(name) belongs to another sync of the same name"
    case .waitsForSnapshot: "the snapshot with which this device can begin has not arrived"
    case .notAdmitted: "no other device has received anything from this one yet"
    case .newerSchema(let device, let table, let column):
      "device \(device) has a newer schema: this store has no “\(column.map { "\(table).\($0)" } ?? table)”"
    case .missingAsset(let sha256): "the asset \(sha256) has not arrived"
    case .wrongClock(let device, let ahead):
      "the clock of device \(device) is ahead by \(ahead.components.seconds / 3_600) hours"
    case .startsFromSnapshot(let device):
      "this device was removed under its former identity \(device); it begins again with a snapshot"
    case .folder(let description): "the folder cannot be used: \(description)"
    }
  }
}

extension SyncConflict.ID: CustomStringConvertible {
  /// A short text that identifies the conflict in its store.
  public var description: String {
    "\(String(entry.time.bits, radix: 16))-\(entry.device.prefix(8))-\(number)"
  }
}
