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
  /// The view modifier `magicData(_:)` sets the store. Without one, the property keeps its initial
  /// value, and `$ships.error` is ``LiveError/missingStore``. The first fetch starts when a body
  /// reads the property. It doesn't block the main actor, so the first body shows the initial
  /// value.
  ///
  /// The projected value, such as `$ships`, is a ``LiveResults`` object with the error, sections
  /// and pages of the results, and with a request that you can set.
  ///
  /// This property wrapper has never been run, because the library's tests run on Linux. There, it
  /// is only type-checked against the declarations of SwiftUI that it uses. The tests run
  /// ``LiveResults``.
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
    ///     update of the parent view, possibly with another request, and requests can't be
    ///     compared. When `id` changes, the property uses the new request; otherwise it keeps the
    ///     old one.
    public init(_ request: Source, initially initial: Source.Value, id: AnyHashable? = nil) {
      self.init(request, initial, id, nil)
    }

    /// The last result, or the initial value until the first result arrives.
    public var wrappedValue: Source.Value { projectedValue.value }

    /// The observable object that fetches the results, with their error, sections and pages.
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
    ///   - id: A value that identifies the request. When it changes, the property uses the new
    ///     request.
    public init(_ request: Source, id: AnyHashable? = nil) { self.init(request, [], id, nil) }
  }

  extension LiveQuery where Source.Value: ExpressibleByNilLiteral {
    /// Creates a property for an optional value, which is nil until the first result arrives.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - id: A value that identifies the request. When it changes, the property uses the new
    ///     request.
    public init(_ request: Source, id: AnyHashable? = nil) { self.init(request, nil, id, nil) }
  }

  extension LiveQuery where Source: LiveListRequest {
    /// Creates a property for a list that is shown in pages.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - pageSize: The number of elements of a page. `loadMore()` of the projected value adds a
    ///     page. If the number isn't positive, the error is `SQLiteError` with `ResultCode.range`.
    ///   - id: A value that identifies the request. When it changes, the property uses the new
    ///     request.
    public init(_ request: Source, pageSize: Int, id: AnyHashable? = nil) {
      self.init(request, [], id, LiveResults<Source>.Paging(pageSize: pageSize))
    }
  }
#endif
