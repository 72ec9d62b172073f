import Foundation
package import MagicData
import SQLiteCore
package import TestSupport

/// A generator of random edits of a store, of all kinds.
///
/// The rows that an edit changes are chosen by unique texts, so that an edit follows from the
/// seed and the content of the store.
package struct SyncEditor: Sendable {
  package var random: SplitMix64
  package let device: String
  /// The number of the last edit.
  package private(set) var number = 0
  private var count = 0
  /// Whether to change assets.
  private let hasAssets: Bool
  /// The number of migrations that the program knows, or nil if the store has no ``SyncVenue``.
  private let level: Int?

  package init(
    seed: UInt64, device: String, after number: Int = 0, hasAssets: Bool = true, level: Int? = nil
  ) {
    random = SplitMix64(seed: seed)
    self.device = device
    self.number = number
    self.hasAssets = hasAssets
    self.level = level
  }

  package mutating func pick(_ range: Range<Int>) -> Int { .random(in: range, using: &random) }

  private mutating func pick<Element>(_ list: [Element]) -> Element? {
    list.isEmpty ? nil : list[pick(0..<list.count)]
  }

  /// Returns a text that no other call on any device returns.
  private mutating func unique() -> String {
    count += 1
    return "\(device)\(number).\(count)"
  }

  private mutating func content() -> Data {
    // Some contents are small enough to be stored in rows, and some are the same on all devices.
    pick(0..<4) == 0
      ? Data("same \(pick(0..<3))".utf8)
      : Data(String(repeating: unique(), count: [1, 4, 400][pick(0..<3)]).utf8)
  }

  /// Makes one edit in one transaction.
  ///
  /// - Returns: What the edit changed. Nil if a constraint rejected it or nothing changed.
  /// - Throws: Any error but a violated constraint.
  package mutating func edit(
    _ magic: MagicData, willCommit: (SyncEdit) throws -> Void = { _ in }
  ) throws -> SyncEdit? {
    let last = number
    number += 1
    count = 0
    var edit: SyncEdit?
    do {
      try magic.transaction {
        let (seen, before) = try magic.database.write { connection in
          (try SyncEdit.seen(connection), try SyncDump(connection))
        }
        for _ in 0..<[1, 1, 1, 2, 3][pick(0..<5)] { try change(magic) }
        if let level {
          let (number, text) = (pick(0..<30), unique())
          try magic.database.write { try SyncVenue.change(level, number, text, $0) }
        }
        let made = try magic.database.write { connection in
          try connection.executeChange("INSERT INTO Mark VALUES (\(device), \(number))")
          return SyncEdit(
            device: device, number: number, seen: seen, from: before,
            to: try SyncDump(connection))
        }
        guard !made.changes.isEmpty else { throw Nothing() }
        try willCommit(made)
        edit = made
      }
      return edit
    } catch is Nothing {
    } catch MagicError.restricted {
    } catch let error as SQLiteError where error.code.primary == .constraint {
    }
    number = last
    return nil
  }

  private struct Nothing: Error {}

  private mutating func player(_ magic: MagicData) throws -> Player? {
    pick(try magic.objects(of: Player.self).sorted { $0.name < $1.name })
  }

  private mutating func team(_ magic: MagicData) throws -> Team? {
    pick(try magic.objects(of: Team.self).sorted { $0.name < $1.name })
  }

  private mutating func teamName() -> String { ["Ajka", "Bor", "Cer", "Dol"][pick(0..<4)] }

  private mutating func change(_ magic: MagicData) throws {
    if pick(0..<3) == 0 { try prune(magic) }
    switch pick(0..<22) {
    case 0, 1, 2: try changeTeam(magic)
    case 3, 4: try changeCollections(magic)
    case 5: try changeLazy(magic)
    case 6, 7:
      guard let player = try player(magic) else { return }
      switch pick(0..<4) {
      case 0: player.name = unique()
      case 1: player.email = pick(0..<2) == 0 ? unique() : "shared \(pick(0..<3))"
      case 2 where hasAssets: player.photo = MagicAsset(value: content(), pathExtension: "bin")
      default: player.photo = nil
      }
      try magic.update(player)
    case 8:
      if let player = try player(magic) { try magic.remove(player) }
    case 9:
      if let team = try team(magic) { try magic.remove(team) }
    case 10, 11:
      guard let home = try team(magic), let away = try team(magic) else { return }
      let match = Match(unique(), home, away)
      if pick(0..<2) == 0, let referee = try player(magic) {
        match.referee = AsyncMagical(value: referee)
      }
      let tickets = try (0..<pick(0..<3)).map { _ in
        let ticket = Ticket(unique(), match)
        if pick(0..<2) == 0 { ticket.holder = try player(magic) }
        return ticket
      }
      try magic.update(match)
      try magic.update(tickets)
    case 12:
      guard let match = pick(try magic.objects(of: Match.self).sorted { $0.title < $1.title })
      else { return }
      switch pick(0..<5) {
      case 0: match.title = unique()
      case 3:
        try magic.update(Report(unique(), match))
        return
      case 1: if let team = try team(magic) { match.home = team }
      case 2: if let team = try team(magic) { match.away = team }
      default: return try magic.remove(match)
      }
      try magic.update(match)
    case 13 where pick(0..<3) == 0:
      guard let report = pick(try magic.objects(of: Report.self).sorted { $0.id < $1.id })
      else { return }
      if pick(0..<2) == 0 { return try magic.remove(report) }
      report.text = unique()
      try magic.update(report)
    case 13:
      guard let ticket = pick(try magic.objects(of: Ticket.self).sorted { $0.seat < $1.seat })
      else { return }
      switch pick(0..<3) {
      case 0: ticket.seat = unique()
      case 1: ticket.holder = pick(0..<3) == 0 ? nil : try player(magic)
      default: return try magic.remove(ticket)
      }
      try magic.update(ticket)
    case 14:
      // Exchanges two unique values.
      guard let one = try player(magic), let other = try player(magic), one.email != other.email
      else { return }
      let (first, second) = (one.email, other.email)
      one.email = unique()
      try magic.update(one)
      other.email = first
      try magic.update(other)
      one.email = second
      try magic.update(one)
    default: try magic.database.write { try changeRecords($0) }
    }
  }

  /// Removes an object or a record of a type that has many.
  private mutating func prune(_ magic: MagicData) throws {
    try magic.database.write { connection in
      // Players in a board or with a ticket can't be removed.
      try connection.executeMultipleChanges(
        """
        DELETE FROM Player WHERE (SELECT count(*) FROM Player) > 25 AND z_index = (
          SELECT z_index FROM Player WHERE z_index NOT IN (
            SELECT target FROM Team_board UNION SELECT holder FROM Ticket WHERE holder IS NOT NULL)
          ORDER BY name LIMIT 1);
        DELETE FROM Report WHERE (SELECT count(*) FROM "Match") > 15
          AND "match" = (SELECT min(id) FROM "Match");
        DELETE FROM "Match" WHERE (SELECT count(*) FROM "Match") > 15
          AND id = (SELECT min(id) FROM "Match");
        DELETE FROM Street WHERE (SELECT count(*) FROM Street) > 25
          AND name = (SELECT max(name) FROM Street);
        DELETE FROM Town WHERE (SELECT count(*) FROM Town) > 25 AND id = (
          SELECT id FROM Town WHERE id NOT IN (SELECT capital FROM Street WHERE capital IS NOT NULL)
          ORDER BY name LIMIT 1);
        """)
    }
  }

  private mutating func changeTeam(_ magic: MagicData) throws {
    let name = teamName()
    let found = try magic.object(of: Team.self, ifPresent: name)
    let team = found ?? Team(name)
    switch pick(0..<8) {
    case 0: team.code = pick(0..<4) == 0 ? nil : "code \(pick(0..<3))"
    case 1: team.tags = [unique(), unique()]
    case 2: team.points[unique()] = pick(0..<9)
    case 3: team.captain = pick(0..<3) == 0 ? nil : try player(magic)
    case 4: team.rival = pick(0..<3) == 0 ? nil : try self.team(magic)
    case 5 where hasAssets: team.badge = MagicAsset(value: content())
    default: team.motto = "motto \(unique())"
    }
    if found == nil { team.motto = "motto \(unique())" }
    try magic.update(team)
    team.rival = nil
  }

  private mutating func changeCollections(_ magic: MagicData) throws {
    guard let team = try team(magic) else { return }
    let isNew = pick(0..<3) > 0
    let player = isNew ? Player(unique()) : try player(magic)
    switch pick(0..<10) {
    case 0, 1:
      if let player { team.members.insert(player, at: pick(0..<team.members.count + 1)) }
    case 2: if !team.members.isEmpty { team.members.remove(at: pick(0..<team.members.count)) }
    case 3: team.members.shuffle(using: &random)
    case 4: if let player { team.fans.insert(player) }
    case 5: if let one = pick(team.fans.sorted { $0.name < $1.name }) { team.fans.remove(one) }
    case 6: if let player { team.roles["role \(pick(0..<3))"] = player }
    case 7: team.roles["role \(pick(0..<3))"] = nil
    case 8: if let player { team.board.insert(player) }
    default: if let one = pick(team.board.sorted { $0.name < $1.name }) { team.board.remove(one) }
    }
    try magic.update(team)
  }

  private mutating func changeLazy(_ magic: MagicData) throws {
    guard let team = try team(magic) else { return }
    switch pick(0..<4) {
    case 0: team.archive.append(Player(unique()))
    case 1: if let player = try player(magic) { team.archive.append(player) }
    case 2: if let player = try player(magic) { team.archive.remove(player) }
    default: if pick(0..<3) == 0 { team.archive.removeAll() }
    }
    try magic.update(team)
  }

  private mutating func changeRecords(_ connection: Connection) throws {
    let towns = try connection.objects(of: Town.self, orderedBy: .column("name"))
    switch pick(0..<14) {
    case 0, 1:
      _ = try connection.insert(
        Town(id: nil, name: pick(0..<3) == 0 ? "town \(pick(0..<3))" : unique(), country: "C"))
    case 2:
      guard var town = pick(towns) else { return }
      if pick(0..<2) == 0 { town.notes = [unique()] } else { town.country = "c\(pick(0..<2))" }
      _ = try connection.updateExisting(town)
    case 3:
      if let town = pick(towns) { try connection.remove(of: Town.self, primary: town.id ?? 0) }
    case 4, 5:
      guard let town = pick(towns)?.id else { return }
      _ = try connection.insert(
        Street(
          id: nil, name: unique(), town: town, twin: pick(towns)?.id,
          capital: pick(0..<4) == 0 ? pick(towns)?.id : nil))
    case 6:
      let streets = try connection.objects(of: Street.self, orderedBy: .column("name"))
      guard var street = pick(streets), let town = pick(towns)?.id else { return }
      switch pick(0..<4) {
      case 0: street.name = unique()
      case 1: street.town = town
      case 2: street.capital = street.capital == nil ? town : nil
      default: street.twin = pick(0..<2) == 0 ? nil : town
      }
      _ = try connection.updateExisting(street)
    case 7:
      try connection.executeChange(
        "DELETE FROM Street WHERE name = (SELECT name FROM Street ORDER BY name LIMIT 1)")
    case 8, 9:
      _ = try connection.update(
        Membership(person: "p\(pick(0..<3))", club: "c\(pick(0..<3))", role: unique()))
    case 10:
      try connection.executeChange(
        "DELETE FROM Membership WHERE person = \("p\(pick(0..<3))") AND club = \("c\(pick(0..<3))")"
      )
    case 11:
      let accounts = try connection.objects(of: Account.self, orderedBy: .column("id"))
      guard var account = pick(accounts) else { return }
      switch pick(0..<3) {
      case 0: account.low = pick(0..<20)
      case 1: account.high = pick(0..<20)
      default: account.note = unique()
      }
      _ = try connection.updateExisting(account)
    case 12:
      let low = pick(0..<10)
      _ = try connection.update(
        Account(id: "a\(pick(0..<3))", low: low, high: low + pick(1..<10), note: unique()))
    default:
      try connection.executeChange("DELETE FROM Account WHERE id = \("a\(pick(0..<3))")")
    }
  }
}
