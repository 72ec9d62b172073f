import Foundation
import MagicData

/// The name of a tenant, which is also the name of its folder.
struct Tenant: Hashable, Sendable, Comparable, CustomStringConvertible {
  let name: String

  /// Creates a tenant from a part of a URL. Returns nil if the name isn't valid.
  ///
  /// A name consists of 1 to 40 lowercase letters, digits and hyphens of ASCII, and begins with a
  /// letter or a digit. Such a name can't contain a path (`..`, `/`, NUL), isn't hidden, is the
  /// same on file systems that ignore case or normalize Unicode, and can't have the extension of a
  /// database file, which `MagicData(path:)` would interpret.
  init?(_ name: Substring) {
    guard (1...40).contains(name.utf8.count), name.utf8.first != UInt8(ascii: "-"),
      name.utf8.allSatisfy({ "abcdefghijklmnopqrstuvwxyz0123456789-".utf8.contains($0) })
    else { return nil }
    self.name = String(name)
  }

  var description: String { name }

  static func < (left: Tenant, right: Tenant) -> Bool { left.name < right.name }
}

/// The stores of the tenants, each in a folder. A store is opened when a request needs it, and
/// stays open for later requests.
///
/// At most ``limit`` stores stay open while no request uses them. If more are open, the one that
/// was used least recently is closed. A store that a request uses is never closed.
actor Tenants {
  private final class Slot {
    let tenant: Tenant
    let opening: Task<MagicData, any Error>
    var userCount = 0
    var lastUse = 0

    init(_ tenant: Tenant, _ opening: Task<MagicData, any Error>) {
      self.tenant = tenant
      self.opening = opening
    }
  }

  private let folder: String
  private let limit: Int
  private let open: @Sendable (Tenant, _ path: String) async throws -> MagicData
  private var slots: [Tenant: Slot] = [:]
  private var closings: [Tenant: Task<Void, Never>] = [:]
  private var useCount = 0
  private var isClosed = false

  /// Creates a cache of open stores.
  ///
  /// - Parameters:
  ///   - folder: The folder with the folders of the tenants.
  ///   - limit: The maximum number of open stores, apart from those that requests use.
  ///   - open: Opens the store at a path, which is created only by ``create(_:)``.
  init(
    in folder: String, limit: Int,
    open: @escaping @Sendable (Tenant, _ path: String) async throws -> MagicData
  ) {
    self.folder = folder
    self.limit = limit
    self.open = open
  }

  /// The number of open stores, including those that are being opened or closed.
  var openCount: Int { slots.count + closings.count }

  /// Returns the tenants that have a folder, in the order of their names.
  nonisolated func all() throws -> [Tenant] {
    try FileManager.default.contentsOfDirectory(atPath: folder)
      .compactMap { Tenant(Substring($0)) }.sorted()
  }

  /// Creates the folder of a new tenant. The first request creates the store in it.
  ///
  /// Requests don't create tenants, because anybody could then fill the disk.
  ///
  /// - Throws: ``Refusal`` with the status 409 if the tenant exists.
  nonisolated func create(_ tenant: Tenant) throws {
    do {
      try FileManager.default.createDirectory(
        atPath: path(of: tenant), withIntermediateDirectories: false,
        attributes: [.posixPermissions: 0o700])
    } catch CocoaError.fileWriteFileExists {
      throw Refusal.conflict("the tenant exists")
    }
  }

  /// Runs `body` with the store of a tenant, which isn't closed meanwhile.
  ///
  /// - Throws: ``Refusal`` if the tenant doesn't exist, or after ``close()``; the error of opening
  ///   the store; the error of `body`.
  func withStore<Result: Sendable>(
    of tenant: Tenant, _ body: @concurrent @Sendable (MagicData) async throws -> Result
  ) async throws -> Result {
    let slot = try slot(of: tenant)
    slot.userCount += 1
    defer { leave(slot) }
    let store: MagicData
    do {
      store = try await slot.opening.value
    } catch {
      // The next request tries again.
      if slots[tenant] === slot { slots[tenant] = nil }
      throw error
    }
    return try await body(store)
  }

  private func slot(of tenant: Tenant) throws -> Slot {
    if isClosed { throw Refusal.unavailable("the service is being shut down") }
    if let slot = slots[tenant] { return slot }
    let path = path(of: tenant)
    guard FileManager.default.fileExists(atPath: path) else {
      throw Refusal.notFound("there is no such tenant")
    }
    // Wait until the store is closed before opening it again, and until another store is closed so
    // that the number of open stores is limited.
    let before = [closings[tenant], closeUnused(above: limit - 1)]
    let slot = Slot(
      tenant,
      Task { [open] in
        for closing in before { await closing?.value }
        return try await open(tenant, path)
      })
    slots[tenant] = slot
    return slot
  }

  private func leave(_ slot: Slot) {
    useCount += 1
    slot.userCount -= 1
    slot.lastUse = useCount
    closeUnused(above: isClosed ? 0 : limit)
  }

  /// Closes stores that no request uses, the least recently used first, until at most `count` are
  /// open. Returns the last closing, or nil if no store is closed.
  @discardableResult private func closeUnused(above count: Int) -> Task<Void, Never>? {
    var last: Task<Void, Never>?
    while slots.count > max(0, count),
      let slot = slots.values.filter({ $0.userCount == 0 }).min(by: { $0.lastUse < $1.lastUse })
    {
      slots[slot.tenant] = nil
      let tenant = slot.tenant
      let closing = Task { [opening = slot.opening] in
        // `close()` only throws inside a transaction, and no request uses the store.
        try? await opening.value.close()
        closings[tenant] = nil
      }
      closings[tenant] = closing
      last = closing
    }
    return last
  }

  /// Interrupts the statements that are running in all stores.
  func interrupt() async {
    for slot in slots.values { try? await slot.opening.value.database.interrupt() }
  }

  /// Closes all stores, each when the last request that uses it has ended. Later requests throw.
  func close() async {
    isClosed = true
    closeUnused(above: 0)
    // A store that a request uses is closed when the request leaves it. Until then, closing it
    // rejects its next calls and waits for the current ones.
    for slot in slots.values { try? await slot.opening.value.close() }
    while let closing = closings.values.first { await closing.value }
  }

  private nonisolated func path(of tenant: Tenant) -> String { "\(folder)/\(tenant.name)" }
}
