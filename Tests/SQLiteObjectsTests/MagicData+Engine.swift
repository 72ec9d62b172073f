import Conformance
import Foundation
import MagicData

/// Opens stores on the engine that the test runs on. On a cluster a store in memory keeps the contents of assets
/// in rows, and every other one in a folder, as clients that share one do.
extension MagicData {
  /// Opens a new, empty store; on a cluster, a new database for each.
  static func fresh(_ type: StoreType = .memory) throws -> MagicData {
    switch Engine.current {
    case .local: try MagicData(type: type)
    case .cluster: try freshOnCluster(type)
    }
  }

  /// As ``fresh(_:)``, of which only opening a cluster's database blocks the task.
  static func fresh(_ type: StoreType = .memory) async throws -> MagicData {
    switch Engine.current {
    case .local: try await MagicData(type: type)
    case .cluster: try freshOnCluster(type)
    }
  }

  /// Opens the store in a folder; on a cluster, the one in the database of that name.
  static func at(
    _ path: String, options: Database.Options = Database.Options()
  ) throws -> MagicData {
    switch Engine.current {
    case .local: try MagicData(path: path, options: options)
    case .cluster: try onCluster(path, options)
    }
  }

  /// As ``at(_:options:)``, of which only opening a cluster's database blocks the task.
  static func at(
    _ path: String, options: Database.Options = Database.Options()
  ) async throws -> MagicData {
    switch Engine.current {
    case .local: try await MagicData(path: path, options: options)
    case .cluster: try onCluster(path, options)
    }
  }

  private static func freshOnCluster(_ type: StoreType) throws -> MagicData {
    let folder = "\(try TestCluster.shared.get().folder)/assets-\(UUID().uuidString)"
    return try MagicData(server: .fresh(), assetFolder: type == .memory ? nil : folder)
  }

  private static func onCluster(_ path: String, _ options: Database.Options) throws -> MagicData {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    return try MagicData(server: .at(path, options: options), assetFolder: "\(path)/assets")
  }
}

extension MagicData {
  /// The names of the files of assets, sorted, without those that a cluster only keeps for readers of other clients.
  var assetFiles: [String] {
    get throws {
      let kept = try Set(
        Engine.current == .cluster
          ? database.rows("SELECT file FROM magicdata_asset_trash", as: String.self) : [])
      let folder = assets.path + "/files"
      // It is made when the first content is written.
      guard FileManager.default.fileExists(atPath: folder) else { return [] }
      return try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        .filter { !kept.contains($0) }
    }
  }
}
