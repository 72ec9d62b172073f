public import SQLiteCore
public import SQLiteMapping

extension PropertyTrait {
  /// Declares that no two objects may have the same combination of values in these properties. A
  /// combination that contains nil is never the same as another.
  ///
  /// - Parameters:
  ///   - first: A property, such as `\Self.$email`.
  ///   - others: More properties.
  /// - Returns: A trait for the `traits` of a ``MagicObject``.
  public static func unique<Object: MagicObject, First: MagicProperty, each Other: MagicProperty>(
    _ first: KeyPath<Object, First>, _ others: repeat KeyPath<Object, each Other>
  ) -> PropertyTrait {
    PropertyTrait(.unique, names(first, repeat each others))
  }

  /// Declares an index on these properties, in this order. It makes filtering and sorting by them
  /// fast.
  ///
  /// - Parameters:
  ///   - first: A property, such as `\Self.$country`.
  ///   - others: More properties.
  /// - Returns: A trait for the `traits` of a ``MagicObject``.
  public static func indexed<Object: MagicObject, First: MagicProperty, each Other: MagicProperty>(
    _ first: KeyPath<Object, First>, _ others: repeat KeyPath<Object, each Other>
  ) -> PropertyTrait {
    PropertyTrait(.indexed, names(first, repeat each others))
  }

  /// Declares the properties that full-text search examines: `Query.search(_:marks:)` and
  /// `Filter.matching(_:)`.
  ///
  /// The full-text index is created with the table. If the table already exists, the index is built
  /// from its objects when the type is first used with this trait. After that, every change updates
  /// it. The first use of the type throws ``MagicError/unsuitableType(type:reason:)`` if one of the
  /// properties isn't stored as text.
  ///
  /// - Parameters:
  ///   - first: A property that is stored as text, such as `\Self.$notes`.
  ///   - others: More properties.
  /// - Returns: A trait for the `traits` of a ``MagicObject``.
  public static func searched<Object: MagicObject, First: MagicProperty, each Other: MagicProperty>(
    _ first: KeyPath<Object, First>, _ others: repeat KeyPath<Object, each Other>
  ) -> PropertyTrait {
    PropertyTrait(.searched, names(first, repeat each others))
  }

  /// Declares the value of a property in objects that were saved before the property was added to
  /// the type.
  ///
  /// You don't need this trait if the type's `init()` sets the property: that value is then the
  /// default.
  ///
  /// - Parameters:
  ///   - path: A property, such as `\Self.$score`.
  ///   - value: The value in objects that were saved before.
  /// - Returns: A trait for the `traits` of a ``MagicObject``.
  public static func `default`<Object: MagicObject, Property: MagicProperty>(
    _ path: KeyPath<Object, Property>, _ value: any Bindable & Sendable
  ) -> PropertyTrait {
    PropertyTrait(.defaultValue(value), names(path))
  }

  /// Returns the names of the properties at key paths. For a path to anything else, returns a
  /// description of the path.
  ///
  /// A trait stores the result, and the plan of the type checks it.
  static func names<Object: MagicObject, each Property: MagicProperty>(
    _ paths: repeat KeyPath<Object, each Property>
  ) -> [String] {
    var list: [PartialKeyPath<Object>] = []
    for path in repeat each paths { list.append(path) }
    return zip(list, PropertyCollector.names(of: list)).map { $1 ?? "\($0)" }
  }
}

extension PropertyCollector {
  /// Returns the name of the property at each key path; nil for a path to anything else.
  static func names<Object: MagicObject>(of paths: [PartialKeyPath<Object>]) -> [String?] {
    let object = Object()
    // An object that can't be encoded has no properties. Creating its plan reports that.
    let entries = (try? entries(of: object)) ?? []
    return paths.map { path in
      guard let property = object[keyPath: path] as? any MagicProperty else { return nil }
      return entries.first { $0.cell == property.cell }?.name
    }
  }
}
