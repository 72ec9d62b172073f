package import SQLiteMapping
import SQLiteRelations

/// The role of a property in its table. Opaque.
public struct _PropertyRole: Sendable {
  /// The way in which the values of a property are stored.
  package enum Kind: Sendable {
    /// In a column.
    case column(Storage)
    /// In a column that refers to another object.
    case object(any MagicObject.Type)
    /// In a link table.
    case links(LinkArrangement, any MagicObject.Type)
    /// In a column with the identifier of an asset.
    case asset
    /// Not at all: the owners' relation is asked.
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
  /// Whether the database counts the value up.
  package var countsUp = false

  /// The type of a relation to many objects, if these lie one behind the other in memory.
  var collection: (any ContiguousObjects.Type)?

  package init(_ kind: Kind) {
    self.kind = kind
  }
}

extension _PropertyRole {
  /// The type of the objects that a relation leads to.
  var target: (any MagicObject.Type)? {
    switch kind {
    case .object(let type), .links(_, let type): type
    case .column, .asset, .reverse: nil
    }
  }

  /// Whether the property leads to other objects.
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

/// A collection whose objects lie one behind the other in memory.
protocol ContiguousObjects: SendableMetatype {
  /// Lends the memory of the objects of a value, without copying them.
  ///
  /// - Returns: Nil if the value is not of this type.
  @unsafe static func withObjects<Result>(
    of live: _LiveValue, _ body: (UnsafeRawBufferPointer) throws -> Result
  ) rethrows -> Result?
}

extension _PropertyRole.LinkArrangement {
  /// The arrangement as a link table has it.
  var form: LinkTable.Arrangement {
    switch self {
    case .list: .list
    case .set: .set
    case .dictionary: .dictionary
    }
  }
}
