import Conformance
import MagicData
import Testing

private class Animal: MagicObject {
  @PrimaryMagicValue var id: String
  @MagicValue var name: String

  required init() {}
  init(_ name: String) { self.name = name }
}

/// A subclass with a property that the inherited `encode(to:)` doesn't encode.
private final class Dog: Animal {
  @MagicValue var tricks: Int = 3
}

/// A subclass that adds no properties.
private final class Cat: Animal {}

/// A subclass that encodes its own property.
private final class Bird: Animal {
  @MagicValue var wings: Int = 2

  private enum Keys: CodingKey { case wings }

  required init() { super.init() }
  override init(_ name: String) { super.init(name) }

  required init(from decoder: any Decoder) throws {
    try super.init(from: decoder)
    let container = try decoder.container(keyedBy: Keys.self)
    _wings = try container.decode(MagicValue<Int>.self, forKey: .wings)
  }

  override func encode(to encoder: any Encoder) throws {
    try super.encode(to: encoder)
    var container = encoder.container(keyedBy: Keys.self)
    try container.encode(_wings, forKey: .wings)
  }
}

private struct Owner: MagicObject {
  @MagicValue var name: String = "owner"
  @OptionalMagicValue var pet: Animal?
  @MagicValue var pets: [Animal] = []
  @MagicValue var lazy: AsyncMagical<Animal> = AsyncMagical(value: Cat("x"))
  init() {}
}

/// A type that doesn't encode one of its wrappers.
private struct Forgetful: MagicObject {
  @MagicValue var kept: Int = 1
  @MagicValue var lost: Int = 2

  private enum CodingKeys: CodingKey { case kept }
}

/// Tests that a subclass either has its own table or is rejected, so no property is lost silently.
@Suite(.everyEngine) struct SubclassTests {
  let magic: MagicData

  init() throws { magic = try MagicData.fresh() }

  private func refusal(_ body: () throws -> Void) -> String {
    let error = #expect(throws: MagicError.self, performing: body)
    guard case .unsuitableType(let type, let reason)? = error else { return "\(error as Any)" }
    return "\(type): \(reason)"
  }

  @Test func `a type that doesn't encode all of its properties throws when first used`() throws {
    let expected =
      "Dog: its encode(to:) omits “tricks”; a subclass must encode its own properties"
    #expect(refusal { try magic.update(Dog()) } == expected)
    #expect(refusal { _ = try magic.objects(of: Dog.self) } == expected)
    #expect(refusal { _ = try magic.check(of: Dog.self) } == expected)
    #expect(refusal { try magic.update(Forgetful()) }.contains("omits “lost”"))
  }

  @Test func `an object of a subclass isn't saved as an object of its base class`() throws {
    for animal in [Dog(), Cat(), Bird()] as [Animal] {
      animal.name = "x"
      #expect(refusal { try magic.update(animal) }.contains("is a subclass of Animal"))
      let owner = Owner()
      owner.lazy.set(Animal("y"))
      owner.pet = animal
      #expect(refusal { try magic.update(owner) }.contains("is a subclass of Animal"))
      owner.pet = nil
      owner.pets = [Animal("y"), animal]
      #expect(refusal { try magic.update(owner) }.contains("is a subclass of Animal"))
      owner.pets = []
      owner.lazy.set(animal)
      #expect(refusal { try magic.update(owner) }.contains("is a subclass of Animal"))
    }
    let owner = Owner()
    owner.lazy.set(Animal("y"))
    try magic.update(owner)
    let fetched = try magic.objects(of: Owner.self)[0]
    fetched.pet = Bird("bird")
    #expect(refusal { try magic.update(fetched) }.contains("is a subclass of Animal"))
    fetched.pet = nil
    fetched.pets = [Bird("bird")]
    #expect(refusal { try magic.update(fetched) }.contains("is a subclass of Animal"))
  }

  @Test func `a subclass that encodes its properties is a separate type`() throws {
    try magic.update(Animal("animal"))
    let bird = Bird("bird")
    bird.wings = 4
    try magic.update(bird)
    try magic.update(Cat("cat"))
    #expect(try magic.objects(of: Animal.self).map(\.name) == ["animal"])
    #expect(try magic.objects(of: Bird.self).map(\.wings) == [4])
    #expect(try magic.objects(of: Bird.self, where: \.$wings > 3).map(\.name) == ["bird"])
    #expect(try magic.objects(of: Cat.self).map(\.name) == ["cat"])
    // Cast to its base class, it isn't the animal with the same key.
    #expect(throws: MagicError.notSaved(type: "Animal")) { try magic.remove(bird as Animal) }
    #expect(try magic.count(of: Animal.self) == 1)
    try magic.remove(bird)
    #expect(try magic.count(of: Bird.self) == 0)
  }
}
