import Essentials
import MagicData
import MagicSync
import Synchronization
import Terminal

extension Command {
  static let sync = Command(
    name: "sync", summary: "keep a store equal to those of other devices through a folder",
    usage: "[OPTIONS] PATH FOLDER",
    explanation: """
      Exchanges the changes of a store with those of other devices through FOLDER, which something else copies,
      such as a file service. Prints what was sent and received, the problems, and the number of conflicts,
      until Control-C stops it. The tables are those that the program of the store syncs, or all tables if no
      program has synced the store yet. Files that the program encrypts can't be read.

      --once               exchange once; the status is 3 if something in the folder can't be used yet, and 1
                           if the folder can't be read or written
      --every SECONDS      how often to read the folder (5 by default)
      --name NAME          the name of the sync (by default that of the program, or “store”)
      --device-name NAME   the name of this device, for people

      These options need no FOLDER and exchange nothing:

      --status             list the devices, the problems of the last exchange, and the number of conflicts
      --conflicts          list the edits that lost against one of another device; the status is 3 if any
      --acknowledge ID     close a conflict of that list; “all” closes all of them
      --restore ID         make the lost edit of a conflict again
      --remove DEVICE      remove a device, which the others then no longer keep files for

      --format FORMAT      table, csv or json
      --migrated-to NAME   fail unless NAME is the last applied migration
      --wait SECONDS       how long to wait for the locks of other programs (5 by default)
      """,
    flags: ["--once", "--status", "--conflicts"],
    options: [
      "--every", "--name", "--device-name", "--acknowledge", "--restore", "--remove", "--format",
      "--migrated-to", "--wait",
    ], operands: 1...2, run: sync)

  private static let actions: Set<String> = [
    "--once", "--status", "--conflicts", "--acknowledge", "--restore", "--remove",
  ]

  private static func sync(_ session: inout Session) throws -> ExitStatus {
    let arguments = session.arguments
    let chosen = actions.intersection(arguments.flags.union(arguments.values.keys)).sorted()
    guard chosen.count <= 1 else {
      throw ToolError.usage("\(chosen[0]) and \(chosen[1]) exclude each other")
    }
    let action = chosen.first
    let isExchange = action == nil || action == "--once"
    guard !isExchange || arguments.operands.count == 2 else {
      throw ToolError.usage("too few arguments")
    }
    let seconds = try arguments.number("--every", in: 1...86_400)
    let location = try DatabaseLocation(arguments.operands[0])
    guard case .store(let magic) = try location.openForWriting(session) else {
      throw ToolError.failed("\(location.path) is not a store of MagicData")
    }
    let known = try Sync.storedChoice(in: magic.database)
    guard isExchange || known != nil else {
      throw ToolError.failed("\(location.path) has never been synced")
    }
    if let known, let name = arguments.values["--name"], name != known.name {
      throw ToolError.failed(
        "the sync of \(location.path) has the name \(known.name.quoted), not \(name.quoted)")
    }
    let folder = arguments.operands.count == 2 ? arguments.operands[1] : ""
    guard try !isExchange || DatabaseLocation.kind(of: folder) != .file else {
      throw ToolError.failed("\(folder) is not a folder")
    }
    let name = known?.name ?? arguments.values["--name"] ?? "store"
    let deviceName = arguments.values["--device-name"] ?? known?.deviceName ?? ""
    let retention = known?.retention ?? .seconds(90 * 86_400)
    let sync = try session.waiting {
      try await Sync(
        magic, through: .folder(folder), name: name, deviceName: deviceName, retention: retention)
    }
    let status: ExitStatus =
      switch action {
      case "--once": try once(sync, session)
      case "--status": try printStatus(of: sync, magic.database, session)
      case "--conflicts": try printConflicts(of: sync, session)
      case "--acknowledge": try acknowledge(sync, session)
      case "--restore": try restore(sync, session)
      case "--remove": try remove(sync, session)
      default: try run(sync, every: .seconds(seconds ?? 5), session)
      }
    try magic.database.close()
    return status
  }

  // MARK: Exchanging

  private static func once(_ sync: Sync, _ session: Session) throws -> ExitStatus {
    let report = try session.waiting { try await sync.once() }
    var writer = try session.results(["event", "count", "note"])
    for row in report.rows(since: nil) { try writer.add(row) }
    try writer.finish()
    return report.isFolderUsable ? report.problems.isEmpty ? .done : .found : .failed
  }

  private static func run(
    _ sync: Sync, every interval: Duration, _ session: Session
  ) throws -> ExitStatus {
    var writer = try session.results(["time", "event", "count", "note"])
    try writer.flush()
    // The output can only be used by this thread.
    let waiting = Mutex<[SyncReport]>([])
    var last: SyncReport?
    do {
      try session.waiting {
        try await sync.run(every: interval) { report in waiting.withLock { $0.append(report) } }
      } meanwhile: {
        let reports = waiting.withLock { waiting in
          defer { waiting = [] }
          return waiting
        }
        for report in reports {
          let time = Value.text(Date.now.formatted(.iso8601))
          for row in report.rows(since: last) { try writer.add([time] + row) }
          last = report
        }
        try writer.flush()
      }
    } catch is Interrupted {
      // Control-C is the regular end.
    }
    return .done
  }

  // MARK: Status

  private static func printStatus(
    of sync: Sync, _ database: Database, _ session: Session
  ) throws -> ExitStatus {
    let problems = try Sync.storedProblems(in: database)
    let (devices, conflicts) = try session.waiting {
      (try await sync.devices(), try await sync.conflicts().count)
    }
    var writer = try session.results(["kind", "id", "name", "received", "seen", "note"])
    try writer.add([
      .text("this device"), .text(sync.device), .text(sync.deviceName), .null, .null,
      .text("sync \(sync.name.quoted)"),
    ])
    for device in devices {
      try writer.add([
        .text("device"), .text(device.id), .text(device.name), .integer(device.receivedCount),
        .text(device.lastSeen.formatted(.iso8601)), device.isRemoved ? .text("removed") : .null,
      ])
    }
    for problem in problems {
      try writer.add([.text("problem"), .null, .null, .null, .null, .text(problem)])
    }
    try writer.add([
      .text("conflicts"), .null, .null, .integer(Int64(conflicts)), .null,
      conflicts == 0 ? .null : .text("list them with --conflicts"),
    ])
    try writer.finish()
    return .done
  }

  private static func remove(_ sync: Sync, _ session: Session) throws -> ExitStatus {
    let id = session.arguments.values["--remove"] ?? ""
    let devices = try session.waiting { try await sync.devices() }.filter { !$0.isRemoved }
    let found = devices.filter { $0.id.hasPrefix(id) }
    guard found.count == 1, !id.isEmpty else {
      throw ToolError.failed(
        found.isEmpty || id.isEmpty
          ? "there is no device \(id.quoted); list them with --status"
          : "several devices begin with \(id.quoted)")
    }
    try session.waiting { try await sync.remove(device: found[0].id) }
    return .done
  }

  // MARK: Conflicts

  private static func printConflicts(of sync: Sync, _ session: Session) throws -> ExitStatus {
    let conflicts = try session.waiting { try await sync.conflicts() }
    var writer = try session.results(["id", "time", "table", "key", "lost", "kept", "reason"])
    for conflict in conflicts {
      try session.interruption.check()
      try writer.add([
        .text("\(conflict.id)"), .text(conflict.date.formatted(.iso8601)), .text(conflict.table),
        .text(conflict.key.map(\.literal).joined(separator: ", ")), text(of: conflict.lost),
        text(of: conflict.kept), .text("\(conflict)"),
      ])
    }
    try writer.finish()
    return conflicts.isEmpty ? .done : .found
  }

  private static func text(of values: [String: Value]) -> Value {
    guard !values.isEmpty else { return .null }
    return .text(
      values.sorted { $0.key < $1.key }.map { "\($0.key) = \($0.value.literal)" }
        .joined(separator: ", "))
  }

  private static func conflict(_ id: String, _ conflicts: [SyncConflict]) throws -> SyncConflict {
    guard let conflict = conflicts.first(where: { "\($0.id)" == id }) else {
      throw ToolError.failed("there is no conflict \(id.quoted); list them with --conflicts")
    }
    return conflict
  }

  private static func acknowledge(_ sync: Sync, _ session: Session) throws -> ExitStatus {
    let id = session.arguments.values["--acknowledge"] ?? ""
    try session.waiting {
      let conflicts = try await sync.conflicts()
      try await sync.acknowledge(id == "all" ? conflicts : [conflict(id, conflicts)])
    }
    return .done
  }

  private static func restore(_ sync: Sync, _ session: Session) throws -> ExitStatus {
    let id = session.arguments.values["--restore"] ?? ""
    try session.waiting {
      try await sync.restore(conflict(id, try await sync.conflicts()))
    }
    return .done
  }
}

extension SyncReport {
  /// Whether the folder could be read and written.
  fileprivate var isFolderUsable: Bool {
    !problems.contains { if case .folder = $0 { true } else { false } }
  }

  /// The rows that the tool prints for an exchange.
  ///
  /// - Parameter last: The report of the exchange before, if what it reported was printed. Then only
  ///   differences are returned.
  fileprivate func rows(since last: SyncReport?) -> [[Value]] {
    func row(_ event: String, _ count: Int?, _ note: String? = nil) -> [Value] {
      [
        .text(event), count.map { .integer(Int64($0)) } ?? .null,
        note.map { .text($0) } ?? .null,
      ]
    }
    var rows: [[Value]] = []
    if last == nil || sentCount > 0 { rows.append(row("sent", sentCount)) }
    if last == nil || receivedCount > 0 { rows.append(row("received", receivedCount)) }
    if last?.conflictCount != conflictCount { rows.append(row("conflicts", conflictCount)) }
    let known = last?.problems ?? []
    for problem in problems where !known.contains(problem) {
      rows.append(row("problem", nil, "\(problem)"))
    }
    for problem in known where !problems.contains(problem) {
      rows.append(row("solved", nil, "\(problem)"))
    }
    return rows
  }
}

extension Value {
  /// The value as an SQL literal.
  fileprivate var literal: String {
    switch self {
    case .null: "NULL"
    case .integer(let integer): "\(integer)"
    case .real(let real): "\(real)"
    case .text(let text): "'\(text.replacing("'", with: "''"))'"
    case .blob(let bytes):
      "x'\(bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined())'"
    }
  }
}
