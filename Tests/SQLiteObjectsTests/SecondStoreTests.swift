import MagicData
import Testing

private struct ParcelTag: MagicObject {
  @PrimaryMagicValue var name: String
  init() {}
  init(_ name: String) { self.name = name }
}

private struct Parcel: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var tag: ParcelTag
  @MagicValue var tags: [ParcelTag]
  @MagicValue var text: MagicAsset<String>
  @MagicValue var lazyText: AsyncMagical<MagicAsset<String>>
  init() {}
  init(_ name: String) {
    (tag, tags, text) = (
      ParcelTag(name), [ParcelTag("a"), ParcelTag("b")], MagicAsset(value: "eager")
    )
    lazyText = AsyncMagical(value: MagicAsset(value: "lazy"))
  }
}

private struct Crate: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var tags: AsyncMagical<[ParcelTag]>
  init() {}
  init(_ names: [String]) { tags = AsyncMagical(value: names.map(ParcelTag.init)) }
}

private struct Pallet: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var tag: AsyncMagical<ParcelTag>
  init() {}
  init(_ name: String) { tag = AsyncMagical(value: ParcelTag(name)) }
}

private struct Chest: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var name: String
  @OptionalMagicValue var next: Chest?
  @MagicValue var inside: AsyncMagical<[Chest]> = AsyncMagical(value: [])
  init() {}
  init(_ name: String) { self.name = name }
}

/// Objects that were fetched from one store and are saved in another.
@Suite struct SecondStoreTests {
  let first: MagicData
  let second: MagicData

  init() throws {
    first = try MagicData(type: .temporary)
    second = try MagicData(type: .temporary)
  }

  @Test func `fetched relations and unread assets are copied into a second store`() async throws {
    let id = try await first.update(Parcel("x"))
    let parcel = try await first.object(of: Parcel.self, primary: id)
    try await second.update(parcel)
    let copy = try await second.objects(of: Parcel.self)[0]
    #expect(copy.tag.name == "x")
    #expect(copy.tags.map(\.name) == ["a", "b"])
    #expect(try await copy.text.get() == "eager")
    #expect(try await copy.lazyText.get().get() == "lazy")
  }

  @Test func `a lazy collection of another store throws, but can be copied`() throws {
    let id = try first.update(Crate(["a", "b"]))
    let package = try first.object(of: Crate.self, primary: id)
    #expect(throws: MagicError.foreignValue(type: "Crate", property: "tags")) {
      try second.update(package)
    }
    package.tags.set(try package.tags.get())
    try second.update(package)
    #expect(try second.objects(of: Crate.self)[0].tags.get().map(\.name) == ["a", "b"])
    #expect(try first.objects(of: Crate.self)[0].tags.get().map(\.name) == ["a", "b"])
  }

  @Test func `a lazy reference of another store throws, but can be copied`() throws {
    let id = try first.update(Pallet("a"))
    let owner = try first.object(of: Pallet.self, primary: id)
    _ = owner.tag
    #expect(throws: MagicError.foreignValue(type: "Pallet", property: "tag")) {
      try second.update(owner)
    }
    let other = Pallet()
    other.tag = owner.tag
    #expect(throws: MagicError.foreignValue(type: "Pallet", property: "tag")) {
      try second.update(other)
    }
    owner.tag.set(try owner.tag.get())
    try second.update(owner)
    #expect(try second.objects(of: Pallet.self)[0].tag.get().name == "a")
  }

  @Test func `a cycle's lazy relation to another object is saved in a second store`() throws {
    let (a, b) = (Chest("a"), Chest("b"))
    (a.next, b.next) = (b, a)
    a.inside.set([Chest("c")])
    try first.update(a)
    try second.update(b)
    for store in [first, second] {
      let found = try store.objects(of: Chest.self, where: \.$name == "a")[0]
      #expect(try found.inside.get().map(\.name) == ["c"])
      #expect(found.next?.next?.name == "a")
    }
  }

  @Test func `a lazy relation that closes a cycle can't be saved in a second store`() throws {
    let (a, b) = (Chest("a"), Chest("b"))
    a.next = b
    b.inside.set([Chest("c"), a])
    try first.update(a)
    #expect(throws: MagicError.foreignValue(type: "Chest", property: "inside")) {
      try second.update(a)
    }
    b.inside.set([a])
    try second.update(a)
    let found = try second.objects(of: Chest.self, where: \.$name == "b")[0]
    #expect(try found.inside.get().map(\.name) == ["a"])
  }

  @Test func `changes of an object in two stores are saved in both`() throws {
    let (parcel, crate) = (Parcel("x"), Crate(["a"]))
    for store in [first, second] {
      try store.update(parcel)
      try store.update(crate)
    }
    parcel.text = MagicAsset(value: "new eager")
    parcel.lazyText.set(MagicAsset(value: "new lazy"))
    parcel.tags.append(ParcelTag("c"))
    crate.tags.append(ParcelTag("b"))
    for store in [first, second] {
      try store.update(parcel)
      try store.update(crate)
    }
    for store in [first, second] {
      let copy = try store.objects(of: Parcel.self)[0]
      #expect(try copy.text.get() == "new eager")
      #expect(try copy.lazyText.get().get() == "new lazy")
      #expect(copy.tags.map(\.name) == ["a", "b", "c"])
      #expect(try store.objects(of: Crate.self)[0].tags.get().map(\.name) == ["a", "b"])
    }
  }

  @Test func `a changed lazy relation in another store throws, also if the object is known`() throws
  {
    try first.update(Crate(["a"]))
    let crate = try first.objects(of: Crate.self)[0]
    crate.tags.set(try crate.tags.get())
    try second.update(crate)
    // The value is in the second store from now on.
    #expect(throws: MagicError.foreignValue(type: "Crate", property: "tags")) {
      try first.update(crate)
    }
  }

  @Test func `a lazy relation that was removed with its object throws lostValue`() throws {
    let id = try first.update(Crate(["a"]))
    let package = try first.object(of: Crate.self, primary: id)
    try first.remove(package)
    #expect(throws: MagicError.lostValue(type: "Crate", property: "tags")) {
      try first.update(package)
    }
  }
}
