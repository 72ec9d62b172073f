package import SQLiteMapping
import SQLiteRelations

/// The kind of a property, which determines how its values are stored.
///
/// For internal use by the property wrappers.
public struct _PropertyRole: Sendable {
  /// The form in which the database stores the values of a property.
  package enum Kind: Sendable {
    /// The values are stored in a column.
    case column(ColumnStorage)
    /// The values are stored in a column that references another object.
    case object(any MagicObject.Type)
    /// The values are stored in a link table.
    case links(LinkArrangement, any MagicObject.Type)
    /// The values are stored in a column with the id of an asset.
    case asset
    /// Nothing is stored. The property is a reverse relation, which reads the relation that the
    /// owners' type declares.
    case reverse
  }

  package enum LinkArrangement: Sendable {
    case list
    case set
    case dictionary
  }

  package var kind: Kind
  package var isOptional = false
  package var isPrimary = false
  package var isLazy = false
  /// Whether the database assigns the value by auto-increment.
  package var isAutoIncrement = false

  /// The collection type of a to-many relation, or nil if the objects of such a collection aren't
  /// contiguous in memory or the property isn't a to-many relation.
  var collection: (any ContiguousObjects.Type)?

  package init(_ kind: Kind) {
    self.kind = kind
  }
}

extension _PropertyRole {
  /// The type of the objects that a relation references, or nil for other properties.
  var target: (any MagicObject.Type)? {
    switch kind {
    case .object(let type), .links(_, let type): type
    case .column, .asset, .reverse: nil
    }
  }

  /// Whether the property references other objects.
  var isRelation: Bool {
    switch kind {
    case .object, .links: true
    case .column, .asset, .reverse: false
    }
  }

  var isAsset: Bool {
    if case .asset = kind { true } else { false }
  }
}

/// A collection whose objects are contiguous in memory.
protocol ContiguousObjects: SendableMetatype {
  /// Calls `body` with the memory of the objects in a value, without copying them.
  ///
  /// - Returns: The result of `body`, or nil if the value isn't of this type.
  @unsafe static func withObjects<Result>(
    of live: _LiveValue, _ body: (UnsafeRawBufferPointer) throws -> Result
  ) rethrows -> Result?
}

extension _PropertyRole.LinkArrangement {
  /// The arrangement, as a value of the type that link tables use.
  var form: LinkTable.Arrangement {
    switch self {
    case .list: .list
    case .set: .set
    case .dictionary: .dictionary
    }
  }
}
