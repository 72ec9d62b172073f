import Foundation
import MagicData
import Synchronization
import TestSupport
import Testing

@testable import Service

/// The cache of open stores.
@Suite struct OpenStoreTests {
  let folder: TestFolder
  let names = (0..<12).map { "tenant-\($0)" }

  init() throws { folder = try TestFolder() }

  private func tenants(limit: Int) throws -> Tenants {
    let tenants = Tenants(in: folder.path, limit: limit) { _, path in
      try await MagicData(path: path)
    }
    for name in names { try tenants.create(try #require(Tenant(name[...]))) }
    return tenants
  }

  @Test func `evictions under load never close a store that is in use`() async throws {
    let tenants = try tenants(limit: 3)
    let all = try tenants.all()
    try await withThrowingTaskGroup { group in
      for client in 0..<8 {
        group.addTask {
          var random = SplitMix64(seed: UInt64(client))
          for number in 0..<60 {
            let tenant = all[Int.random(in: 0..<all.count, using: &random)]
            // A closed store would throw `MagicError.closed`.
            try await tenants.withStore(of: tenant) { store in
              try await store.update(Product("\(client)/\(number)", "\(tenant)", stock: 1))
              await Task.yield()
              #expect(try await store.count(of: Product.self, where: \.$name != tenant.name) == 0)
            }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(await tenants.openCount <= 3)
    var count = 0
    for tenant in all {
      count += try await tenants.withStore(of: tenant) { try await $0.count(of: Product.self) }
    }
    #expect(count == 8 * 60)
    await tenants.close()
    #expect(await tenants.openCount == 0)
    #expect(openFiles(in: folder.path) == [])
  }

  @Test func `concurrent requests of one tenant share a store`() async throws {
    let opened = Mutex(0)
    let tenants = Tenants(in: folder.path, limit: 3) { _, path in
      opened.withLock { $0 += 1 }
      return try await MagicData(path: path)
    }
    let tenant = try #require(Tenant("acme"))
    try tenants.create(tenant)
    try await withThrowingTaskGroup { group in
      for number in 0..<20 {
        group.addTask {
          try await tenants.withStore(of: tenant) {
            _ = try await $0.update(Product("\(number)", "", stock: 1))
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(opened.withLock { $0 } == 1)
    await tenants.close()
  }

  @Test func `the least recently used store is closed first`() async throws {
    let opened = Mutex<[String]>([])
    let tenants = Tenants(in: folder.path, limit: 2) { tenant, path in
      opened.withLock { $0.append(tenant.name) }
      return try await MagicData(path: path)
    }
    let all = try ["a", "b", "c"].map { try #require(Tenant($0[...])) }
    for tenant in all { try tenants.create(tenant) }
    for index in [0, 1, 0, 2, 0, 1] { try await tenants.withStore(of: all[index]) { _ in } }
    #expect(opened.withLock { $0 } == ["a", "b", "c", "b"])
    await tenants.close()
  }

  @Test func `more stores than the limit are open while requests use them`() async throws {
    let tenants = try tenants(limit: 2)
    let all = try tenants.all()
    let running = Counter()
    let mayEnd = Flag()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for tenant in all {
        group.addTask {
          try await tenants.withStore(of: tenant) { store in
            running.add()
            try await waitUntil { mayEnd.isSet }
            _ = try await store.update(Product("a", "", stock: 1))
          }
        }
      }
      try await waitUntil { running.count == all.count }
      #expect(await tenants.openCount == all.count)
      mayEnd.set()
      try await group.waitForAll()
    }
    #expect(await tenants.openCount <= 2 + all.count)
    await tenants.close()
    #expect(await tenants.openCount == 0)
  }

  @Test func `a store that can't be opened is tried again by the next request`() async throws {
    struct Stop: Error {}
    let failures = Mutex(1)
    let tenants = Tenants(in: folder.path, limit: 2) { _, path in
      let mustFail = failures.withLock { failures in
        defer { failures -= 1 }
        return failures > 0
      }
      if mustFail { throw Stop() }
      return try await MagicData(path: path)
    }
    let tenant = try #require(Tenant("acme"))
    try tenants.create(tenant)
    await #expect(throws: Stop.self) { try await tenants.withStore(of: tenant) { _ in } }
    #expect(await tenants.openCount == 0)
    try await tenants.withStore(of: tenant) { _ in }
    await tenants.close()
    let error = await #expect(throws: Refusal.self) {
      try await tenants.withStore(of: tenant) { _ in }
    }
    #expect(error?.status == 503)
  }
}
