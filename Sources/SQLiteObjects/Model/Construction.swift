/// Makes objects of fetched values: calls the type's `init()`, and lets the wrappers that it makes take
/// the places of the object's storage, one after the other, as they are made.
///
/// That the places are the right ones is found out once for each type, by its `encode(to:)`, and
/// watched for each object: a wrapper takes a place only if it is declared in the line of the wrapper
/// whose place it is, and in the end all places must have been taken once. An `init()` that makes
/// other wrappers, or the same in another order, has its object bound by `encode(to:)` instead.
///
/// What `init()` sets or reads meanwhile is the new object's own and reaches no storage.
struct Construction: ~Copyable {
  /// The lines of the wrappers, in the order of the properties; none if the order is not known.
  private let lines: [UInt32]
  private var owner: MagicCell.Owner?
  /// The place that the next wrapper takes.
  private var next = 0
  private var isOrderly = true
  /// What `init()` has set.
  private var forms: [CellContent.Form] = []
  /// The cells that wrappers got, if that is to be found out.
  private var recorded: [OwnCell]?

  init(_ plan: ObjectPlan) {
    lines = Construction.key == nil ? [] : plan.lines
  }

  private init(recording: Void) {
    lines = []
    recorded = []
  }

  /// Makes objects whose wrappers lead to storages.
  ///
  /// - Throws: ``MagicError/unsuitableType(type:reason:)`` if their properties are not always the same.
  static func objects<Object: MagicObject>(
    _ type: Object.Type, _ plan: ObjectPlan, of storages: [ObjectStorage],
    in context: FetchContext?
  ) throws -> [Object] {
    // Room for nothing would be the empty array that all share, whose count the standard library
    // writes all the same: ThreadSanitizer sees that.
    if storages.isEmpty { return [] }
    var construction = Construction(plan)
    // What runs is told once for all of them: between the objects nobody asks. They are made where
    // they stay: appending an object of a type that is not known here costs as much as making it.
    return try unsafe run(&construction) { construction in
      try unsafe Array(unsafeUninitializedCapacity: storages.count) { objects, count in
        guard var place = objects.baseAddress else { return }
        for storage in storages {
          let isOrderly = unsafe construction.pointee.begin(storage, context)
          unsafe place.initialize(
            to: isOrderly ? Object() : try outside { try bound(type, to: storage, context) })
          count += 1
          if isOrderly, unsafe !construction.pointee.isComplete {
            unsafe place.pointee = try outside { try bound(type, to: storage, context) }
          }
          unsafe place += 1
        }
      }
    }
  }

  /// Makes one object, as ``objects(_:_:of:in:)`` makes many.
  ///
  /// - Throws: ``MagicError/unsuitableType(type:reason:)`` if its properties are not always the same.
  static func object<Object: MagicObject>(
    _ type: Object.Type, of storage: ObjectStorage, in context: FetchContext?
  ) throws -> Object {
    var construction = Construction(storage.plan)
    if construction.begin(storage, context) {
      let object = unsafe run(&construction) { _ in Object() }
      if construction.isComplete { return object }
    }
    return try bound(type, to: storage, context)
  }

  /// Makes an object, and has its own `encode(to:)` say which of its wrappers lead where.
  private static func bound<Object: MagicObject>(
    _ type: Object.Type, to storage: ObjectStorage, _ context: FetchContext?
  ) throws -> Object {
    let object = Object()
    try storage.plan.bind(object, to: storage, context: context)
    return object
  }

  /// Gets ready for the next object.
  ///
  /// - Returns: False if the order of its wrappers is not known.
  private mutating func begin(_ storage: ObjectStorage, _ context: FetchContext?) -> Bool {
    if lines.isEmpty { return false }
    owner = context.map { .related(RelatedStorage(storage, $0)) } ?? .object(storage)
    next = 0
    isOrderly = true
    // What `init()` has set of the last object goes when everything else is said: its deinit may read an
    // object that is being made.
    if !forms.isEmpty {
      let gone = forms
      forms = []
      withExtendedLifetime(gone) {}
    }
    return true
  }

  /// Says whether all places were taken by the wrappers that they are for.
  private var isComplete: Bool { isOrderly && next == lines.count }

  /// Makes an object, and tells in which lines its wrappers are declared, in the order of `entries`,
  /// if that is the order in which they are made, and where their cells are in its memory.
  static func recording<Object: MagicObject>(
    _ type: Object.Type
  ) throws -> (entries: [PropertyCollector.Entry], lines: [UInt32], layout: CellLayout?) {
    var construction = Construction(recording: ())
    let object = unsafe run(&construction) { _ in Object() }
    let entries = try PropertyCollector.entries(of: object)
    try refuseHiddenWrappers(of: object, entries)
    let recorded = construction.recorded ?? []
    let isOrderly =
      recorded.count == entries.count
      && zip(recorded, entries).allSatisfy { MagicCell(.own($0), 0) == $1.cell }
    return (entries, isOrderly ? recorded.map(\.line) : [], CellLayout(object, entries))
  }

  /// Refuses a type with wrappers that its `encode(to:)` does not show, as that of a subclass which
  /// inherits it: they would silently not be stored.
  private static func refuseHiddenWrappers<Object: MagicObject>(
    of object: Object, _ entries: [PropertyCollector.Entry]
  ) throws {
    var mirror: Mirror? = Mirror(reflecting: object)
    while let level = mirror {
      for (label, value) in level.children {
        guard let property = value as? any MagicProperty,
          !entries.contains(where: { $0.cell == property.cell })
        else { continue }
        // A wrapper's own name begins with an underscore.
        let name = label?.drop { $0 == "_" } ?? ""
        throw MagicError.unsuitableType(
          type: "\(type(of: object))",
          reason: "its encode(to:) leaves out “\(name)”; a subclass must encode its own properties")
      }
      mirror = level.superclassMirror
    }
  }

  func makes(_ storage: ObjectStorage) -> Bool {
    switch owner {
    case .object(let own): own === storage
    case .related(let related): related.storage === storage
    case .own, nil: false
    }
  }

  mutating func take(_ type: StaticString, _ line: UInt32) -> MagicCell {
    if let owner {
      let slot = next
      next += 1
      if slot < lines.count, lines[slot] == line { return MagicCell(owner, slot) }
      isOrderly = false
    }
    let cell = OwnCell(type: type, line: line)
    recorded?.append(cell)
    return MagicCell(.own(cell), 0)
  }

  func form(_ slot: Int) -> CellContent.Form { forms.isEmpty ? .unset : forms[slot] }

  /// Sets what a property holds, and returns what it held: its deinit may read the object.
  mutating func exchange(_ form: CellContent.Form, _ slot: Int) -> CellContent.Form {
    if forms.isEmpty { forms.append(contentsOf: repeatElement(.unset, count: lines.count)) }
    var other = form
    swap(&forms[slot], &other)
    return other
  }
}
