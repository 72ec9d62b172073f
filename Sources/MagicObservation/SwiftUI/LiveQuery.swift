#if canImport(SwiftUI)
  import SQLiteMapping
  public import SQLiteObjects
  public import SwiftUI

  /// A property of a view that contains the results of a request, kept up to date.
  ///
  ///     struct FleetView: View {
  ///       @LiveQuery(Ship.ordered(by: .ascending(\.$name))) private var ships
  ///       var body: some View { List(ships, id: \.id) { ship in Text(ship.name) } }
  ///     }
  ///
  /// The store is that of the view modifier `magicData(_:)`. If there is none, the property keeps
  /// its initial value, and `$ships.error` is ``LiveError/missingStore``. The first fetch starts
  /// when a body reads the property. It doesn't block the main actor, so the first body shows the
  /// initial value.
  ///
  /// The projected value, such as `$ships`, is a ``LiveResults``, with the error, the sections and
  /// the pages of the results, and a request that you can set.
  ///
  /// This property wrapper is compiled against the declarations of SwiftUI that it uses, but it was
  /// never run: the library's tests run on Linux. They test ``LiveResults``.
  @MainActor @propertyWrapper public struct LiveQuery<Source: LiveRequest>: DynamicProperty
  where Source.Store == MagicData {
    @Environment(\.magicData) private var magic
    @State private var holder = Holder()
    private let request: Source
    private let initial: Source.Value
    private let id: AnyHashable?
    private let paging: LiveResults<Source>.Paging?

    private init(
      _ request: Source, _ initial: Source.Value, _ id: AnyHashable?,
      _ paging: LiveResults<Source>.Paging?
    ) {
      self.request = request
      self.initial = initial
      self.id = id
      self.paging = paging
    }

    /// Creates a property for the results of a request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - initial: The value to show until the first result arrives.
    ///   - id: A value that identifies the request. SwiftUI creates the property again for each
    ///     update of the parent view, possibly with another request, and requests can't be compared.
    ///     The property uses the new request if `id` has changed.
    public init(_ request: Source, initially initial: Source.Value, id: AnyHashable? = nil) {
      self.init(request, initial, id, nil)
    }

    /// The last result.
    public var wrappedValue: Source.Value { projectedValue.value }

    /// The results that the property shows.
    public var projectedValue: LiveResults<Source> {
      if let results = holder.results, holder.id == id, holder.magic === magic { return results }
      let results = LiveResults(request, Handoff(initial), magic, paging)
      if let previous = holder.results { results.show(previous) }
      holder.results = results
      holder.id = id
      holder.magic = magic
      return results
    }

    /// The results of a property, which survive updates of the view.
    @MainActor private final class Holder {
      var results: LiveResults<Source>?
      var id: AnyHashable?
      weak var magic: MagicData?
    }
  }

  extension LiveQuery where Source.Value: ExpressibleByArrayLiteral {
    /// Creates a property for a list, which is empty until the first result arrives.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - id: A value that identifies the request. The property uses a new request if it has
    ///     changed.
    public init(_ request: Source, id: AnyHashable? = nil) { self.init(request, [], id, nil) }
  }

  extension LiveQuery where Source.Value: ExpressibleByNilLiteral {
    /// Creates a property for an optional value, which is nil until the first result arrives.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - id: A value that identifies the request. The property uses a new request if it has
    ///     changed.
    public init(_ request: Source, id: AnyHashable? = nil) { self.init(request, nil, id, nil) }
  }

  extension LiveQuery where Source: LiveListRequest {
    /// Creates a property for a list that is shown in pages.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - pageSize: The number of elements of a page. `$list.loadMore()` adds one.
    ///   - id: A value that identifies the request. The property uses a new request if it has
    ///     changed.
    public init(_ request: Source, pageSize: Int, id: AnyHashable? = nil) {
      self.init(request, [], id, LiveResults<Source>.Paging(pageSize: pageSize))
    }
  }
#endif
