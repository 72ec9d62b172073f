import Foundation
import MagicData

// Not a target: `.ci/checks/must-not-compile` compares the compiler's errors with the comments.

struct Part: MagicObject {
  typealias PrimaryValue = String
  @PrimaryMagicValue var id: String
  @MagicValue var name: String
  @MagicValue var site: URL
  @MagicValue var tags: [String]
  init() {}
}

struct Box: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var parts: [Part]
  init() {}
}

/// Objects can be sorted only by properties that are stored in a form that sorts like the values.
func ordering(_ magic: MagicData) throws {
  // expected-error@+1 {{(aka 'URL') conform to 'MagicComparable'}}
  _ = try magic.objects(of: Part.self, orderedBy: [.ascending(\.$site)])
  // expected-error@+1 {{(aka 'Array<String>') conform to 'MagicComparable'}}
  _ = try magic.objects(of: Part.self, orderedBy: [.descending(\.$tags)])
}

/// A filter applies to one type.
func filters(_ magic: MagicData, _ boxes: Filter<Box>) throws {
  // expected-error@+2 {{to expected argument type 'Filter<Part>'}}
  // expected-note@+1 {{are expected to be equal}}
  _ = try magic.objects(of: Part.self, where: boxes)
}

/// A primary value's type must conform to `MagicPrimaryValue`, and `Double` doesn't.
struct Weight {
  // expected-error@+1 {{requires that 'Double' conform to 'MagicPrimaryValue'}}
  @PrimaryMagicValue var grams: Double
}

final class Draft: Codable {}

/// An object with a value that isn't `Sendable` isn't `Sendable` either.
// expected-note@+1 {{conform to the 'Sendable' protocol}}
struct Letter: MagicObject {
  @MagicValue var draft: Draft
  init() {}
}

func send(_ value: some Sendable) {}

func sending(_ letter: Letter, _ part: Part) {
  send(part)
  // expected-error@+1 {{type 'Letter' does not conform to the 'Sendable' protocol}}
  send(letter)
}

/// A primary value must have the declared type.
func primaries(_ magic: MagicData) throws {
  // expected-error@+1 {{cannot convert value of type 'Int' to expected argument type 'Part.PrimaryValue' (aka 'String')}}
  _ = try magic.object(of: Part.self, primary: 1)
  // expected-error@+1 {{cannot convert value of type 'Int' to expected argument type 'Part.PrimaryValue' (aka 'String')}}
  _ = try magic.has(of: Part.self, primary: 1)
  _ = try magic.has(of: Part.self, primary: "1")
}

/// A reverse relation can't be created from a literal with elements.
func reverse(_ box: Box) {
  let none: AsyncReverseMagicSet<Box> = []
  // expected-error@+1 {{cannot convert value of type 'Box' to expected element type 'Never'}}
  let some: AsyncReverseMagicSet<Box> = [box]
}
