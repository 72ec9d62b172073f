import Foundation
import SQLiteCore
import SQLitePortable

/// A benchmark that measures collections of 100, 10,000 and 1,000,000 items, in memory and in a
/// file.
enum Collections {
  struct Person: Codable, Equatable, Identifiable {
    var id: Int
    var name: String
    var age: Int

    static func == (left: Person, right: Person) -> Bool { left.id == right.id }
  }

  struct Tag: Codable, Hashable {
    var name: String
    var age: Int
  }

  struct Plain: Codable, Equatable {
    var id: Int
    var name: String
    var age: Int
  }

  static func measure() throws {
    for count in [100, 10_000, 1_000_000] {
      try measure("memory", count, CodableStore())
      let folder = FileManager.default.temporaryDirectory.appending(
        path: "bench-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      try measure("file", count, CodableStore(path: folder.appending(path: "store").path))
    }
  }

  private static func measure(_ place: String, _ count: Int, _ store: CodableStore) throws {
    let step = max(1, count / 200)
    let filling = try PortableBenchmarks.milliseconds {
      try store.insert(
        items: (0..<count).lazy.map { Person(id: $0, name: "name \($0)", age: $0 % 90) })
    }
    let update = try PortableBenchmarks.microseconds(200) {
      try store.update(item: Person(id: $0 * step % count, name: "new", age: 1))
    }
    let contains = try PortableBenchmarks.microseconds(200) {
      _ = try store.contains(item: Person(id: $0 * step % count, name: "", age: 0))
    }
    let delete = try PortableBenchmarks.microseconds(50) {
      try store.delete(item: Person(id: $0, name: "", age: 0))
    }
    let insert = try PortableBenchmarks.microseconds(200) {
      try store.insert(item: Person(id: -$0, name: "new", age: 1))
    }
    let reading = try PortableBenchmarks.milliseconds {
      let _: [Person] = try store.read { $0.age > 88 }
    }
    print(
      "\(count) in \(place), identifiable: fill \(Int(filling)) ms, insert \(insert), contains "
        + "\(contains), update \(update), delete \(delete), filter \(Int(reading)) ms")
    try store.insert(items: (0..<count).lazy.map { Tag(name: "name \($0)", age: $0 % 90) })
    let found = try PortableBenchmarks.microseconds(200) {
      _ = try store.contains(item: Tag(name: "name \($0 * step % count)", age: 0))
    }
    try store.database.write { connection in
      try connection.executeChange(
        "UPDATE magicdata_collections SET keys = 'hash of another process' WHERE name = 'Tag'")
    }
    let first = try PortableBenchmarks.milliseconds {
      _ = try store.contains(item: Tag(name: "", age: 0))
    }
    try store.insert(
      items: (0..<count).lazy.map { Plain(id: $0, name: "name \($0)", age: $0 % 90) })
    let scanning = try PortableBenchmarks.microseconds(count > 100_000 ? 3 : 50) {
      try store.update(item: Plain(id: $0, name: "name \($0)", age: $0 % 90))
    }
    print(
      "  hashable: contains \(found), first call in a process \(Int(first)) ms; neither: update \(scanning)"
    )
    guard place == "memory" else { return }
    var data = Data()
    let saving = try PortableBenchmarks.milliseconds { data = try store.data() }
    let loading = try PortableBenchmarks.milliseconds { _ = try CodableStore(data: data) }
    print("  data: \(data.count) bytes in \(Int(saving)) ms, loaded in \(Int(loading)) ms")
  }
}
