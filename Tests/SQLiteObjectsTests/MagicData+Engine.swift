import Conformance
import MagicData

/// Opens stores on the engine that the test runs on.
extension MagicData {
  /// Opens a new, empty store; on a cluster, a new database for each.
  static func fresh(_ type: StoreType = .memory) throws -> MagicData {
    switch Engine.current {
    case .local: try MagicData(type: type)
    case .cluster: try MagicData(server: try .fresh(), assetFolder: nil)
    }
  }

  /// As ``fresh(_:)``, of which only opening a cluster's database blocks the task.
  static func fresh(_ type: StoreType = .memory) async throws -> MagicData {
    switch Engine.current {
    case .local: try await MagicData(type: type)
    case .cluster: try MagicData(server: try .fresh(), assetFolder: nil)
    }
  }

  /// Opens the store in a folder; on a cluster, the one in the database of that name.
  static func at(
    _ path: String, options: Database.Options = Database.Options()
  ) throws -> MagicData {
    switch Engine.current {
    case .local: try MagicData(path: path, options: options)
    case .cluster: try MagicData(server: try .at(path, options: options), assetFolder: nil)
    }
  }

  /// As ``at(_:options:)``, of which only opening a cluster's database blocks the task.
  static func at(
    _ path: String, options: Database.Options = Database.Options()
  ) async throws -> MagicData {
    switch Engine.current {
    case .local: try await MagicData(path: path, options: options)
    case .cluster: try MagicData(server: try .at(path, options: options), assetFolder: nil)
    }
  }
}
