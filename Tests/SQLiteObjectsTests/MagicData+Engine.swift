import Conformance
import Foundation
import MagicData

/// Opens stores on the engine that the test uses. On a cluster, a store in memory keeps asset
/// content in rows. Every other store keeps it in a folder, like clients that share one.
extension MagicData {
  /// Opens a new, empty store. On a cluster, each call creates a new database.
  static func fresh(_ type: StoreType = .memory) throws -> MagicData {
    switch Engine.current {
    case .local: try MagicData(type: type)
    case .cluster: try freshOnCluster(type)
    }
  }

  /// Opens a new, empty store. On a cluster, opening the database blocks the task.
  static func fresh(_ type: StoreType = .memory) async throws -> MagicData {
    switch Engine.current {
    case .local: try await MagicData(type: type)
    case .cluster: try freshOnCluster(type)
    }
  }

  /// Opens the store in a folder. On a cluster, opens the database with that name.
  static func at(
    _ path: String, options: Database.Options = Database.Options()
  ) throws -> MagicData {
    switch Engine.current {
    case .local: try MagicData(path: path, options: options)
    case .cluster: try onCluster(path, options)
    }
  }

  /// Opens the store in a folder. On a cluster, opening the database blocks the task.
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
  /// The sorted names of the asset files, without those that a cluster keeps only for readers of
  /// other clients.
  var assetFiles: [String] {
    get throws {
      let kept = try Set(
        Engine.current == .cluster
          ? database.rows("SELECT file FROM magicdata_asset_trash", as: String.self) : [])
      let folder = assets.path + "/files"
      // The folder is created with the first content.
      guard FileManager.default.fileExists(atPath: folder) else { return [] }
      return try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        .filter { !kept.contains($0) }
    }
  }
}
