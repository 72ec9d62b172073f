import Conformance
import Foundation
import SQLiteCluster
import SQLiteCore
import SQLitePortable
import Testing
import TestSupport

/// Tests collections of plain values in a cluster's database.
@Suite(.enabled(if: TestCluster.isAvailable, Comment(rawValue: TestCluster.reason)))
struct ClusterCollectionTests {
  private struct Person: Codable, Hashable, Sendable {
    let id: Int
    let name: String
    let age: Double?
  }

  private func store(_ name: String = #function) throws -> CodableStore {
    CodableStore(database: try TestCluster.shared.get().database(name))
  }

  @Test func `several clients share collections, which can be saved to a file and loaded`()
    async throws
  {
    let stores = [try store(), try store()]
    try await withThrowingTaskGroup { group in
      for (client, store) in stores.enumerated() {
        group.addTask {
          for number in 0..<10 {
            let age = number % 3 == 0 ? nil : Double(number) / 3
            try await store.insert(
              item: Person(id: client * 100 + number, name: "n\(number) \"'", age: age))
          }
          try await store.insert(
            on: "VIP \(client)", items: (0..<30).map { Person(id: $0, name: "v", age: 1) })
        }
      }
      try await group.waitForAll()
    }
    #expect(try await stores[0].count(of: Person.self) == 20)
    #expect(try await stores[1].tableNames() == ["Person", "VIP 0", "VIP 1"])
    let old: [Person] = try await stores[1].read { ($0.age ?? 0) >= 2 }
    #expect(old.count == 4)
    try await stores[0].delete(items: old)
    #expect(try await stores[1].count(of: Person.self) == 16)

    let folder = try TestFolder()
    let url = folder.url.appending(path: "people.data")
    try await stores[0].save(to: url)
    let copy = try store("copy")
    try await copy.load(from: url)
    let (all, copied): ([Person], [Person]) = (
      try await stores[1].read(), try await copy.read()
    )
    #expect(Set(all) == Set(copied) && copied.count == 16)
    try await stores[1].clear()
    #expect(try await stores[0].count(of: Person.self) == 0)
  }
}
