import Essentials
import MagicHistory
import SQLiteCore
import SQLiteHistory

/// The last file of a snapshot: everything but the rows and the log, which are in its parts.
struct SyncSnapshot: Sendable {
  /// The batches that the snapshot contains, and the device that wrote it. Its number is that of
  /// the snapshot.
  let head: SyncHead
  /// Whether the device that began the sync had content before.
  let hadContent: Bool
  let peers: [SyncPeer]
  /// The rows of the tables of conflicts and aliases.
  let conflicts: [[Value]]
  let aliases: [[Value]]
  let partCount: Int
  /// The size of all parts in bytes.
  let byteCount: Int

  var bytes: [UInt8] {
    var writer = ByteWriter()
    head.append(to: &writer)
    writer.append(hadContent ? 1 : 0)
    writer.append(Int64(peers.count))
    for peer in peers {
      writer.append(peer.device)
      writer.append(peer.name)
      writer.append(peer.received)
      writer.append(peer.clock.bits)
      writer.append(peer.head?.bytes ?? [])
      writer.append(peer.isRemoved ? 1 : 0)
    }
    for rows in [conflicts, aliases] {
      writer.append(Int64(rows.count))
      for row in rows {
        writer.append(Int64(row.count))
        for value in row { writer.append(value) }
      }
    }
    writer.append(Int64(partCount))
    writer.append(Int64(byteCount))
    return writer.bytes
  }

  init(
    head: SyncHead, hadContent: Bool, peers: [SyncPeer], conflicts: [[Value]], aliases: [[Value]],
    partCount: Int, byteCount: Int
  ) {
    self.head = head
    self.hadContent = hadContent
    self.peers = peers
    self.conflicts = conflicts
    self.aliases = aliases
    self.partCount = partCount
    self.byteCount = byteCount
  }

  init(_ bytes: [UInt8]) throws(SyncFileFault) {
    do {
      var reader = ByteReader(bytes)
      head = try SyncHead(from: &reader)
      hadContent = try reader.number() == 1
      var peers: [SyncPeer] = []
      for _ in 0..<(try reader.count()) {
        let (device, name) = (try reader.text(), try reader.text())
        let (received, clock) = (try reader.ordinal(), SyncTime(bits: try reader.ordinal()))
        let head = try reader.content()
        guard clock <= .limit else { throw SyncFileFault.damaged }
        peers.append(
          SyncPeer(
            device: device, name: name, received: received, clock: clock,
            head: head.isEmpty ? nil : try SyncHead(head), isRemoved: try reader.number() == 1))
      }
      self.peers = peers
      func rows(_ width: Int) throws -> [[Value]] {
        var rows: [[Value]] = []
        for _ in 0..<(try reader.count()) {
          var row: [Value] = []
          for _ in 0..<(try reader.count()) { row.append(try reader.value()) }
          guard row.count == width else { throw SyncFileFault.damaged }
          rows.append(row)
        }
        return rows
      }
      conflicts = try rows(4)
      aliases = try rows(6)
      let (parts, size) = (try reader.number(), try reader.number())
      guard reader.isAtEnd, let partCount = Int(exactly: parts), partCount >= 0, size >= 0 else {
        throw SyncFileFault.damaged
      }
      self.partCount = partCount
      byteCount = Int(clamping: size)
    } catch { throw .damaged }
  }
}

/// A part of a snapshot: rows of the store, or entries of the log.
enum SyncSnapshotPart {
  case rows(Patch)
  case log([SyncLog.Stored])

  func content() throws -> [UInt8] {
    var writer = ByteWriter()
    switch self {
    case .rows(let patch):
      writer.append(0)
      writer.append(try patch.content())
    case .log(let records):
      writer.append(1)
      writer.append(Int64(records.count))
      for record in records {
        writer.append(record.id.time.bits)
        writer.append(record.id.device)
        writer.append(record.batch ?? 0)
        writer.append(record.base)
        writer.append(record.rows)
        writer.append(record.effect == nil ? 0 : 1)
        if let effect = record.effect { writer.append(effect) }
      }
    }
    return writer.bytes
  }

  init(_ bytes: [UInt8]) throws(SyncFileFault) {
    do {
      var reader = ByteReader(bytes)
      switch try reader.number() {
      case 0: self = .rows(try Patch(content: try reader.content()))
      case 1:
        var records: [SyncLog.Stored] = []
        for _ in 0..<(try reader.count()) {
          let id = EntryID(
            time: SyncTime(bits: try reader.ordinal()), device: try reader.text())
          let (batch, base) = (try reader.ordinal(), try reader.content())
          let rows = try reader.content()
          let effect = try reader.number() == 1 ? try reader.content() : nil
          records.append(
            SyncLog.Stored(
              id: id, batch: batch == 0 ? nil : batch, rows: rows, effect: effect, base: base))
        }
        self = .log(records)
      default: throw SyncFileFault.damaged
      }
      guard reader.isAtEnd else { throw SyncFileFault.damaged }
    } catch { throw .damaged }
  }
}
