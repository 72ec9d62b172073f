package import SQLiteCore

package import Essentials

/// What a property holds. Opaque.
public struct CellContent: Sendable {
  package enum Form: Sendable {
    /// Nothing yet.
    case unset
    /// What SQLite stores.
    case stored(Value)
    /// Bytes, as Foundation's type for them: they are copied once.
    case data(Data)
    /// A value that is more than SQLite stores: an object, a collection, an asset, a nested value.
    ///
    /// It is kept elsewhere, lest all others be as large.
    indirect case live(LiveValue)
    /// Another object, by its z_index.
    case reference(Int64)
    /// Links that were fetched with the object.
    case links
    /// Links that were set since the object was fetched.
    case targets([RelationTarget])
    /// Content that was left in the store.
    case lazy
  }

  package var form: Form

  package init(_ form: Form) {
    self.form = form
  }
}

/// A Swift value of any type, in a cell. Opaque.
///
/// Proof: the value is reached only through the property wrapper that was declared with its type, or
/// through a ``MagicAsset`` of its type, and these are Sendable only if that type is. An object with a
/// value that is not Sendable therefore never leaves its isolation domain, and neither does the value:
/// what the store takes to other threads are the stored forms made of it where the object lives.
public struct LiveValue: @unchecked Sendable {
  package let value: Any

  package init(_ value: Any) {
    self.value = value
  }
}
