import Conformance
import Foundation
import MagicData
import Testing

private struct Page: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var eager: MagicAsset<String> = MagicAsset()
  @OptionalMagicValue var maybe: MagicAsset<String>?
  @MagicValue var lazy: AsyncMagical<MagicAsset<String>> = AsyncMagical(value: MagicAsset())

  init() {}

  init(_ text: String?) { set(text) }

  func set(_ text: String?) {
    let asset = text.map { MagicAsset(value: $0, pathExtension: "txt") } ?? MagicAsset()
    eager = asset
    maybe = text == nil ? nil : asset
    lazy.set(asset)
  }

  /// Returns the content of the assets, after checking that all properties and accessors agree.
  ///
  /// - Parameters:
  ///   - isSaved: Whether the assets have been saved, so that each has a file or a row.
  ///   - hasOptional: Whether the optional asset must agree. One that was nil stays nil until the
  ///     object is fetched again.
  func content(isSaved: Bool = true, hasOptional: Bool = true) async throws -> String? {
    let lazily = try await lazy.get()
    let maybe = hasOptional ? maybe : eager
    if !hasOptional { #expect(self.maybe == nil) }
    let blocking = { () throws -> [String?] in
      try [self.eager.get(), maybe?.get(), lazily.get()]
    }
    let values = try blocking()
    let loaded = try await [eager.get(), maybe?.get(), lazily.get()]
    #expect(Set(values).count == 1 && values == loaded)
    let value = values[0]
    for asset in [eager, maybe, lazily] {
      #expect(try await asset?.data() == value.map { Data($0.utf8) })
      #expect(try asset?.size ?? 0 == value?.utf8.count ?? 0)
      #expect(try (asset?.path == nil) == (value == nil || !isSaved))
      #expect(try (asset?.sha256 == nil) == (value == nil))
      #expect(try asset?.pathExtension == (value == nil ? nil : "txt"))
      let reader = try await asset?.open()
      let isOpen = reader != nil
      #expect(isOpen == (value != nil && isSaved))
    }
    return value
  }
}

/// Tests that an object's asset returns the store's current content, whichever object saved it.
@Suite(.everyEngine) struct AssetPresenceTests {
  private static let contents: [String?] = [nil, "first", "second"]

  @Test(arguments: contents, contents)
  func `an asset returns the store's current content`(before: String?, after: String?)
    async throws
  {
    let magic = try await MagicData.fresh(.temporary)
    let saved = Page(before)
    try await magic.update(saved)
    let fetched = try await magic.object(of: Page.self, primary: saved.id)
    let heldLazily = try await fetched.lazy.get()
    let held = (fetched.eager, fetched.maybe, heldLazily)
    #expect(try await saved.content() == before)
    #expect(try await fetched.content() == before)

    let other = try await magic.object(of: Page.self, primary: saved.id)
    other.set(after)
    // Unsaved changes are invisible to other objects.
    #expect(try await other.content(isSaved: false) == after)
    #expect(try await fetched.content() == before)
    try await magic.update(other)

    #expect(try await other.content() == after)
    for page in [saved, fetched] {
      #expect(try await page.content(hasOptional: before != nil) == after)
    }
    #expect(try await held.0.get() == after)
    #expect(try await held.1?.get() == (before == nil ? nil : after))
    #expect(try await held.2.get() == after)
    // Saving an object with unchanged assets keeps them, and copying them copies the current
    // content.
    try await magic.update([saved, fetched])
    let copy = Page(nil)
    (copy.eager, copy.maybe) = (fetched.eager, before == nil ? fetched.eager : fetched.maybe)
    copy.lazy.set(held.2)
    try await magic.update(copy)
    for page in try await magic.objects(of: Page.self) {
      #expect(try await page.content() == after)
    }
    #expect(try await magic.assets.verify().isEmpty)
  }

  @Test func `an optional asset set to nil is nil before and after the save`() throws {
    let magic = try MagicData.fresh(.temporary)
    try magic.update(Page("first"))
    let page = try magic.objects(of: Page.self)[0]
    page.maybe = nil
    #expect(page.maybe == nil)
    #expect(try magic.objects(of: Page.self)[0].maybe?.get() == "first")
    try magic.update(page)
    #expect(page.maybe == nil)
    #expect(try magic.objects(of: Page.self)[0].maybe == nil)
  }

  @Test func `a removed object can be saved again only if its assets had no content`() throws {
    let magic = try MagicData.fresh(.temporary)
    let (empty, full) = (Page(nil), Page("first"))
    try magic.update([empty, full])
    let copies = try magic.objects(of: Page.self)
    try magic.remove(contentsOf: [empty, full])
    #expect(try empty.eager.get() == nil)
    #expect(try full.eager.get() == nil)
    #expect(try copies[0].eager.get() == nil)
    #expect(throws: AssetError.self) { try copies[1].eager.get() }
    for object in [full, copies[1]] {
      #expect(throws: MagicError.lostValue(type: "Page", property: "eager")) {
        try magic.update(object)
      }
    }
    for object in [empty, copies[0]] { try magic.update(object) }
    #expect(try magic.count(of: Page.self) == 1)
  }
}
