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

// expected-note@+1 5 {{class 'Draft' does not conform to the 'Sendable' protocol}}
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

/// A class isn't `Sendable`, and can't be declared as such, because Swift treats wrappers as mutable
/// properties.
// expected-note@+1 10 {{class 'Author' does not conform to the 'Sendable' protocol}}
final class Author: MagicObject {
  @PrimaryMagicValue var id: Int
  @MagicValue var name: String
  init() {}
}

final class CheckedAuthor: MagicObject, Sendable {
  // expected-error@+1 {{stored property '_id' of 'Sendable'-conforming class 'CheckedAuthor' is mutable}}
  @PrimaryMagicValue var id: Int
  init() {}
}

// expected-error@+1 {{non-final class 'OpenAuthor' cannot conform to the 'Sendable' protocol}}
class OpenAuthor: MagicObject, Sendable {
  // expected-error@+1 {{stored property '_id' of 'Sendable'-conforming class 'OpenAuthor' is mutable}}
  @PrimaryMagicValue var id: Int
  required init() {}
}

/// A subclass doesn't inherit the promise of its superclass, because it can have other properties.
class SharedAuthor: MagicObject, @unchecked Sendable {
  @PrimaryMagicValue var id: Int
  required init() {}
}

// expected-warning@+1 {{class 'CountedAuthor' must restate inherited '@unchecked Sendable' conformance}}
class CountedAuthor: SharedAuthor {
  var count = 0
}

/// A struct with any value that isn't `Sendable` can't be declared as `Sendable`: a plain value, an
/// asset, a property without a wrapper, or a relation of each kind, lazy ones included.
struct Page: MagicObject, Sendable {
  // expected-error@+1 {{contains non-Sendable type 'Draft'}}
  @OptionalMagicValue var draft: Draft?
  // expected-error@+1 {{contains non-Sendable type 'Draft'}}
  @MagicValue var drafts: [Draft]
  // expected-error@+1 {{contains non-Sendable type 'Draft'}}
  @MagicValue var file: MagicAsset<[Draft]>
  // expected-error@+1 {{contains non-Sendable type 'Draft'}}
  @MagicValue var lazyFile: AsyncMagical<MagicAsset<[Draft]>>
  // expected-error@+1 {{has non-Sendable type 'Draft'}}
  var shown: Draft
  // expected-error@+1 {{contains non-Sendable type 'Author'}}
  @OptionalMagicValue var author: Author?
  // expected-error@+1 {{contains non-Sendable type 'Author'}}
  @MagicValue var list: [Author]
  // expected-error@+1 {{contains non-Sendable type 'Author'}}
  @MagicValue var set: MagicalSet<Author>
  // expected-error@+1 {{contains non-Sendable type 'Author'}}
  @MagicValue var byName: [String: Author]
  // expected-error@+1 {{contains non-Sendable type 'Author'}}
  @MagicValue var lazyOne: AsyncMagical<Author>
  // expected-error@+1 {{contains non-Sendable type 'Author'}}
  @MagicValue var lazyList: AsyncMagical<[Author]>
  // expected-error@+1 {{contains non-Sendable type 'Author'}}
  @MagicValue var lazySet: AsyncMagical<MagicalSet<Author>>
  // expected-error@+1 {{contains non-Sendable type 'Author'}}
  @MagicValue var lazyByName: AsyncMagical<[String: Author]>
  init() {}
}

/// A struct is `Sendable` if all its values are. Swift infers it, unless the struct is public.
struct Tag: MagicObject {
  @MagicValue var name: String
  @MagicValue var parents: [Tag]
  @MagicValue var children: AsyncMagical<MagicalSet<Tag>>
  @OptionalMagicValue var icon: MagicAsset<Data>?
  @ReverseMagicValue(\Tag.$parents) var owners: AsyncReverseMagicSet<Tag>
  var isSelected = false
  init() {}
}

// expected-note@+2 {{consider making struct 'PublicTag' conform to the 'Sendable' protocol}}
/// A public struct, for which Swift doesn't infer `Sendable`.
public struct PublicTag: MagicObject {
  /// A value that is `Sendable`.
  @MagicValue public var name: String
  /// Creates an object without values.
  public init() {}
}

func sharing(_ author: Author, _ tag: Tag, _ open: PublicTag) {
  send(tag)
  // expected-error@+1 {{type 'Author' does not conform to the 'Sendable' protocol}}
  send(author)
  // expected-error@+1 {{type 'PublicTag' does not conform to the 'Sendable' protocol}}
  send(open)
}

/// The closure of an asynchronous transaction runs on another thread, so it can't capture an object
/// that isn't `Sendable`.
func capturing(_ author: Author, _ tag: Tag, _ magic: MagicData) async throws {
  try await magic.transaction { try magic.update(tag) }
  // expected-error@+1 {{capture of 'author' with non-Sendable type 'Author' in a '@Sendable' closure}}
  try await magic.transaction { try magic.update(author) }
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
