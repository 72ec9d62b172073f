import Foundation
import MagicData
import TestSupport
import Testing

@testable import Service

@Suite struct TenantTests {
  @Test(arguments: ["a", "acme", "9", "a-b-", "1234567890123456789012345678901234567890"])
  func `a name of lowercase letters, digits and hyphens is valid`(name: String) {
    #expect(Tenant(name[...])?.name == name)
  }

  static let hostile = [
    "", ".", "..", "../acme", "acme/..", "/acme", "acme/", "a/b", "acme\0", "\0", "acme.sqlite3",
    "acme.db", ".acme", "-rf", "ACME", "Acme", "acmé", "acme\u{301}", "ａcme", "acme ", " acme",
    "a\nb", "%2e%2e", "a\\b", "~", "~root", "$HOME", "a:b", "acme*", "магазин", "🛒",
    "12345678901234567890123456789012345678901", String(repeating: "a", count: 100_000),
  ]

  @Test(arguments: hostile)
  func `a hostile name is invalid`(name: String) { #expect(Tenant(name[...]) == nil) }

  @Test func `requests of hostile tenants touch nothing outside the tenants' folder`() async throws
  {
    let test = try await TestService(["acme"])
    // A store that no tenant may reach.
    let secret = try await MagicData(path: test.folder.file("secret"))
    try await secret.update(Product("pen", "Secret", stock: 1))
    try await secret.close()
    let before = try FileManager.default.subpathsOfDirectory(atPath: test.folder.path).sorted()
    let allowed = CharacterSet.alphanumerics
    for name in TenantTests.hostile + ["../secret", "..\u{2F}secret", "zeta"] {
      // As it is, and escaped.
      for name in [name, name.addingPercentEncoding(withAllowedCharacters: allowed) ?? ""] {
        for path in ["/\(name)/products/pen", "//\(name)/products/pen"] {
          let status = try await test.respond(.get, path).status
          #expect(status == 404, "\(path.prefix(80))")
        }
      }
    }
    let after = try FileManager.default.subpathsOfDirectory(atPath: test.folder.path).sorted()
    #expect(after == before)
    await test.service.shutDown(grace: .seconds(60))
  }

  @Test func `a tenant's folder that is a link to another store isn't opened`() async throws {
    let test = try await TestService(["acme"])
    let secret = try await MagicData(path: test.folder.file("secret"))
    try await secret.update(Product("pen", "Secret", stock: 1))
    try await secret.close()
    try FileManager.default.createDirectory(
      atPath: test.folder.file("tenants/evil"), withIntermediateDirectories: false)
    try test.folder.link(
      "tenants/evil/default.sqlite3", to: test.folder.file("secret/default.sqlite3"))
    let status = try await test.respond(.get, "/evil/products/pen").status
    #expect(status == 500)
    await test.service.shutDown(grace: .seconds(60))
  }

  @Test func `a tenant can be created once`() async throws {
    let test = try await TestService(["acme"])
    let tenant = try #require(Tenant("acme"))
    let error = #expect(throws: Refusal.self) { try test.service.tenants.create(tenant) }
    #expect(error?.status == 409)
    #expect(try test.service.tenants.all() == [tenant])
    await test.service.shutDown(grace: .seconds(60))
  }
}
