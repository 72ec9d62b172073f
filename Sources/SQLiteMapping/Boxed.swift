import ExactText
import Essentials

/// A container that a decoder or an encoder hands out again for each row.
class HandedOut {
  /// Says whether somebody still has it.
  var isKept: Bool { true }
}

/// A value of a type that only the box knows: finding out what `KeyedDecodingContainer<Key>` is costs
/// as much at run time as reading a column (benchmark `fetch`).
final class Boxed<Content>: HandedOut {
  // Nobody else has a part in it.
  @exclusivity(unchecked) private var content: Content

  init(_ content: Content) {
    unsafe self.content = content
  }

  @inline(never)
  func copy() -> Content { unsafe content }

  /// Says whether there is a copy besides ours.
  override var isKept: Bool {
    guard ContainerLayout.isOneReference,
      MemoryLayout<Content>.size == MemoryLayout<AnyObject>.size
    else { return true }
    // What was proven of the layout: the content is one reference to a class of Swift's.
    return unsafe withUnsafeMutablePointer(to: &content) { pointer in
      unsafe pointer.withMemoryRebound(to: AnyObject.self, capacity: 1) {
        unsafe !isKnownUniquelyReferenced(&$0.pointee)
      }
    }
  }
}

/// What the standard library's keyed containers are made of.
enum ContainerLayout {
  /// Says whether each of them is one reference to an object. If a library does it otherwise, containers
  /// are made anew for each row.
  static let isOneReference: Bool = {
    let decoding = try? NestedJSON.decoder(of: Data("{}".utf8)).container(keyedBy: PathKey.self)
    let encoding = KeyedEncodingContainer(NestingKeyedContainer<PathKey>(error: NestingSignal()))
    return (decoding.map { isReference($0) } ?? false) && isReference(encoding)
  }()

  private static func isReference<Content>(_ content: Content) -> Bool {
    guard MemoryLayout<Content>.size == MemoryLayout<AnyObject>.size,
      let field = Mirror(reflecting: content).children.first?.value,
      type(of: field) is AnyClass
    else { return false }
    // Only its bits are looked at.
    return unsafe unsafeBitCast(content, to: UInt.self)
      == UInt(bitPattern: ObjectIdentifier(field as AnyObject))
  }
}
