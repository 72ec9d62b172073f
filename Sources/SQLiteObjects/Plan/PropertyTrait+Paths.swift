public import SQLiteCore
public import SQLiteMapping

extension PropertyTrait {
  /// No two objects may have the same values in these properties together.
  ///
  /// - Parameters:
  ///   - first: A property, such as `\Self.$email`.
  ///   - others: More properties.
  public static func unique<Object: MagicObject, First: MagicProperty, each Other: MagicProperty>(
    _ first: KeyPath<Object, First>, _ others: repeat KeyPath<Object, each Other>
  ) -> PropertyTrait {
    PropertyTrait(.unique, names(first, repeat each others))
  }

  /// Objects are found and sorted fast by these properties, the first one first.
  ///
  /// - Parameters:
  ///   - first: A property, such as `\Self.$country`.
  ///   - others: More properties.
  public static func indexed<Object: MagicObject, First: MagicProperty, each Other: MagicProperty>(
    _ first: KeyPath<Object, First>, _ others: repeat KeyPath<Object, each Other>
  ) -> PropertyTrait {
    PropertyTrait(.indexed, names(first, repeat each others))
  }

  /// Declares the properties that full-text search examines: `Query.search(_:marks:)` and `Filter.matching(_:)`.
  ///
  /// The index is made with the table, or of the objects that are there when the type is first used with this
  /// trait, and follows every change.
  ///
  /// - Parameters:
  ///   - first: A property that is stored as text, such as `\Self.$notes`.
  ///   - others: More properties.
  public static func searched<Object: MagicObject, First: MagicProperty, each Other: MagicProperty>(
    _ first: KeyPath<Object, First>, _ others: repeat KeyPath<Object, each Other>
  ) -> PropertyTrait {
    PropertyTrait(.searched, names(first, repeat each others))
  }

  /// The value in objects that are older than the property.
  ///
  /// A value that the type's `init()` sets is such a default without a word here.
  ///
  /// - Parameters:
  ///   - path: A property, such as `\Self.$score`.
  ///   - value: Its value in those objects.
  public static func `default`<Object: MagicObject, Property: MagicProperty>(
    _ path: KeyPath<Object, Property>, _ value: any Bindable & Sendable
  ) -> PropertyTrait {
    PropertyTrait(.defaultValue(value), names(path))
  }

  /// The names of the properties that paths lead to; of a path to something else its own.
  ///
  /// For the traits of a type, which are a part of what is known of it.
  static func names<Object: MagicObject, each Property: MagicProperty>(
    _ paths: repeat KeyPath<Object, each Property>
  ) -> [String] {
    var list: [PartialKeyPath<Object>] = []
    for path in repeat each paths { list.append(path) }
    return zip(list, PropertyCollector.names(of: list)).map { $1 ?? "\($0)" }
  }
}

extension PropertyCollector {
  /// The names of the properties that paths lead to, nil for a path to something else.
  static func names<Object: MagicObject>(of paths: [PartialKeyPath<Object>]) -> [String?] {
    let object = Object()
    // An object that cannot be encoded has no properties; its plan says so.
    let entries = (try? entries(of: object)) ?? []
    return paths.map { path in
      guard let property = object[keyPath: path] as? any MagicProperty else { return nil }
      return entries.first { $0.cell == property.cell }?.name
    }
  }
}
