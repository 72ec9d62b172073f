import Foundation
import MagicData

/// The error of a backup that can't be used.
struct InvalidBackup: Error {
  var tenant: Tenant
  var findings: [String]
}

extension ShopService {
  /// Copies the stores of all tenants to a new folder while requests run, and verifies the copies.
  ///
  /// - Parameter folder: A folder that doesn't exist yet. Its parent folder must exist.
  /// - Returns: The number of orders in each copy.
  func backUp(to folder: String) async throws -> [Tenant: Int] {
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: false,
      attributes: [.posixPermissions: 0o700])
    var counts: [Tenant: Int] = [:]
    for tenant in try tenants.all() {
      let path = "\(folder)/\(tenant)"
      let faults = try await tenants.withStore(of: tenant) { try await $0.backup(to: path).faults }
      // A copy that can't be opened is not a backup.
      let copy = try await MagicData(path: path, options: .readOnly)
      let damage = try await copy.database.rows("PRAGMA quick_check", as: String.self)
      let findings =
        faults.map { "\($0)" } + damage.filter { $0 != "ok" } + (try Shop.wrongProducts(in: copy))
      counts[tenant] = try await copy.count(of: Order.self)
      try await copy.close()
      guard findings.isEmpty else { throw InvalidBackup(tenant: tenant, findings: findings) }
    }
    return counts
  }
}
