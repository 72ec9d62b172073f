public import Observation
import SQLiteCore
import SQLiteMapping
import SQLiteObjects

/// The results of a request, kept up to date for views.
///
///     let ships = LiveResults(Ship.where(\.$tons > 100), in: magic)
///     let count = LiveResults(Ship.all.count, initially: 0, in: magic)
///
/// Create it on any actor, and read it on the main actor. It fetches nothing until you read the
/// result or call ``load()``. From then on, it fetches again after each commit that can change the
/// result, and updates the properties on the main actor. Fetching and decoding run in the
/// background, so they never block the main actor. Properties change in a separate job of the main
/// actor, never while a view reads them. When you release the object, it stops.
///
/// A view that reads a property is updated when that property changes. A result that equals the
/// previous one updates no view.
///
/// An error doesn't end the updates: ``error`` is set, ``value`` stays, and the next commit that
/// affects the request causes another fetch. Call ``reload()`` to fetch again without a commit. If
/// the store is closed, the error is `MagicError.closed` for objects, and `SQLiteError` with
/// `ResultCode.misuse` for records. While the database is suspended, it is `SQLiteError` with
/// `ResultCode.abort`.
///
/// The object retains the store. It observes the request with the guarantees of
/// `MagicData.observe(_:)`.
@MainActor public final class LiveResults<Source: LiveRequest> {
  /// The properties that notify views.
  private struct Content {
    var value: Source.Value
    var error: (any Error)?
    var isLoading = true
    var hasMore = false
    var change: LiveChange?
  }

  /// The functions that limit a list to its first elements.
  struct Paging: Sendable {
    let pageSize: Int
    let limited: @Sendable (Source, Int) -> Source
    let cut: @Sendable (inout Source.Value, Int) -> Bool
  }

  private let registrar = ObservationRegistrar()
  private let store: Source.Store?
  private let paging: Paging?
  private var source: Source
  /// The value until the first result, passed from the actor that creates this object.
  private let initial: Handoff<Source.Value>
  private lazy var content = Content(value: initial.take())
  /// The maximum number of elements, if the list is shown in pages.
  private var limit: Int
  /// The list of objects that ``content`` contains.
  private var shown: ShownList?
  private var task: Task<Void, Never>?
  /// The number of the current loop. Deliveries of earlier loops are ignored.
  private var loopNumber = 0
  /// Whether the current loop has delivered a result or an error.
  private var isCurrent = false
  private var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
  private var lastWaiter = 0

  nonisolated init(
    _ request: Source, _ initial: Handoff<Source.Value>, _ store: Source.Store?, _ paging: Paging?
  ) {
    self.store = store
    self.paging = paging
    source = request
    self.initial = initial
    limit = paging?.pageSize ?? 0
  }

  /// Creates the results of a request.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - value: The value to show until the first result arrives.
  ///   - store: The store to observe.
  public nonisolated convenience init(
    _ request: Source, initially value: sending Source.Value, in store: Source.Store
  ) {
    self.init(request, Handoff(value), store, nil)
  }

  deinit { task?.cancel() }

  /// The last result, or the initial value until the first result arrives.
  ///
  /// Reading it starts the first fetch.
  public var value: Source.Value {
    access(\.value)
    return content.value
  }

  /// The error of the last fetch, or nil if it succeeded.
  ///
  /// Reading it starts the first fetch.
  public var error: (any Error)? {
    access(\.error)
    return content.error
  }

  /// A Boolean value that indicates whether the result of the current ``request`` hasn't arrived
  /// yet.
  ///
  /// It is true from the beginning, and again after a new request, ``loadMore()`` and ``reload()``,
  /// until the result or an error arrives. Fetches after commits don't set it. Reading it starts
  /// the first fetch.
  public var isLoading: Bool {
    access(\.isLoading)
    return content.isLoading
  }

  /// The last change of a list of objects, or nil before the first result.
  ///
  /// It is always nil for requests other than `Query` and `Query.objects`, because their results
  /// have no row IDs. Reading it starts the first fetch.
  public var change: LiveChange? {
    access(\.change)
    return content.change
  }

  /// The request whose results are shown.
  ///
  /// If you set it, the old value stays until the new result arrives, and ``change`` then contains
  /// the difference between the two. A list that is shown in pages starts with its first page
  /// again. Reading this property doesn't start a fetch, and neither does setting it before the
  /// first read.
  public var request: Source {
    get {
      registrar.access(self, keyPath: \.request)
      return source
    }
    set {
      registrar.withMutation(of: self, keyPath: \.request) { source = newValue }
      limit = paging?.pageSize ?? 0
      if isStarted { restart() }
    }
  }

  /// Fetches the result again, for example after an error.
  ///
  /// The method returns immediately. The value stays until the new result arrives.
  public func reload() { restart() }

  /// Fetches the result of the current request, and waits for it. It includes everything that was
  /// committed before the call.
  ///
  /// Views don't need this method. Use it in tests and programs that read the properties after a
  /// write.
  ///
  ///     try await magic.update(ship)
  ///     try await ships.load()
  ///     print(ships.value.count)
  ///
  /// - Throws: The ``error`` of the fetch, or `CancellationError` if the task is cancelled.
  public func load() async throws {
    // A fetch that is running may have begun before the last commit.
    start()
    while !isCurrent {
      try Task.checkCancellation()
      lastWaiter += 1
      let number = lastWaiter
      await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          if Task.isCancelled { continuation.resume() } else { waiters[number] = continuation }
        }
      } onCancel: {
        Task { @MainActor in self.waiters.removeValue(forKey: number)?.resume() }
      }
    }
    if let error = content.error { throw error }
  }

  /// Shows the value of other results until the first result arrives.
  func show(_ other: LiveResults) {
    content.value = other.content.value
    shown = other.shown
  }

  private var isStarted: Bool { loopNumber > 0 }

  private func access<Member>(_ keyPath: KeyPath<LiveResults, Member>) {
    registrar.access(self, keyPath: keyPath)
    startIfNeeded()
  }

  /// Starts the loop on the first call. It notifies nobody, because a view may be reading.
  private func startIfNeeded() { if !isStarted { start() } }

  private func restart() {
    update { $0.isLoading = true }
    start()
  }

  private func start() {
    task?.cancel()
    loopNumber += 1
    isCurrent = false
    let number = loopNumber
    var source = source
    var limit: PageLimit<Source.Value>?
    if let paging {
      guard paging.pageSize > 0 else {
        return fail(SQLiteError(.range, "a page must have at least one element"), number)
      }
      limit = PageLimit(count: self.limit, cut: paging.cut)
      let next = self.limit.addingReportingOverflow(1)
      source = paging.limited(source, next.overflow ? self.limit : next.partialValue)
    }
    guard let store else { return fail(LiveError.missingStore, number) }
    let request = source
    let shown = shown
    let deliver = { @MainActor @Sendable [weak self] outcome in
      if let self { self.receive(outcome, number) }
    }
    // Detached, so that it doesn't inherit the transaction of the caller.
    task = Task.detached(priority: .userInitiated) {
      await ResultsLoop(request.observe(in: store), limit: limit, shown: shown, deliver).run()
    }
  }

  /// Delivers an error after the current job of the main actor, because a view may be reading.
  private func fail(_ error: any Error, _ number: Int) {
    task = Task { [weak self] in self?.receive(.failure(error), number) }
  }

  private func receive(_ outcome: FetchOutcome<Source.Value>, _ number: Int) {
    guard number == loopNumber else { return }
    switch outcome {
    case .result(let handoff):
      let delivery = handoff.take()
      shown = delivery.list?.shown
      update(hasNewValue: true) {
        $0.value = delivery.value
        $0.error = nil
        $0.isLoading = false
        $0.hasMore = delivery.hasMore
        $0.change = delivery.list?.change
      }
    case .unchanged:
      update {
        $0.error = nil
        $0.isLoading = false
      }
    case .failure(let error):
      update(hasNewError: !isShown(error)) {
        $0.error = error
        $0.isLoading = false
      }
    case .waiting(let error):
      if !isShown(error) { update(hasNewError: true) { $0.error = error } }
      return
    }
    isCurrent = true
    let waiters = waiters
    self.waiters = [:]
    for waiter in waiters.values { waiter.resume() }
  }

  /// Returns whether an error equals the one that is shown, so that no view has to be updated.
  private func isShown(_ error: any Error) -> Bool {
    func equals<Shown: Equatable>(_ shown: Shown) -> Bool { error as? Shown == shown }
    guard let shown = content.error as? any Equatable else { return false }
    return equals(shown)
  }

  /// Changes the properties, and notifies the views that read one of those that differ.
  private func update(
    hasNewValue: Bool = false, hasNewError: Bool = false, _ change: (inout Content) -> Void
  ) {
    var new = content
    change(&new)
    let hasError = hasNewError || (new.error == nil) != (content.error == nil)
    let isLoading = new.isLoading != content.isLoading
    let hasMore = new.hasMore != content.hasMore
    let hasChange = hasNewValue && (new.change != nil || content.change != nil)
    if hasNewValue { registrar.willSet(self, keyPath: \.value) }
    if hasError { registrar.willSet(self, keyPath: \.error) }
    if isLoading { registrar.willSet(self, keyPath: \.isLoading) }
    if hasMore { registrar.willSet(self, keyPath: \.pagesAreIncomplete) }
    if hasChange { registrar.willSet(self, keyPath: \.change) }
    content = new
    if hasNewValue { registrar.didSet(self, keyPath: \.value) }
    if hasError { registrar.didSet(self, keyPath: \.error) }
    if isLoading { registrar.didSet(self, keyPath: \.isLoading) }
    if hasMore { registrar.didSet(self, keyPath: \.pagesAreIncomplete) }
    if hasChange { registrar.didSet(self, keyPath: \.change) }
  }

  private var pagesAreIncomplete: Bool {
    access(\.pagesAreIncomplete)
    return content.hasMore
  }
}

extension LiveResults: Observable {}

extension LiveResults.Paging where Source: LiveListRequest {
  nonisolated init(pageSize: Int) {
    self.init(pageSize: pageSize, limited: { $0.limited(to: $1) }) { list, count in
      let hasMore = list.count > count
      if hasMore { list.removeLast(list.count - count) }
      return hasMore
    }
  }
}

extension LiveResults where Source.Value: ExpressibleByArrayLiteral {
  /// Creates the results of a request for a list, which is empty until the first result arrives.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - store: The store to observe.
  public nonisolated convenience init(_ request: Source, in store: Source.Store) {
    self.init(request, Handoff([]), store, nil)
  }
}

extension LiveResults where Source.Value: ExpressibleByNilLiteral {
  /// Creates the results of a request for an optional value, which is nil until the first result
  /// arrives.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - store: The store to observe.
  public nonisolated convenience init(_ request: Source, in store: Source.Store) {
    self.init(request, Handoff(nil), store, nil)
  }
}

// Lists.
extension LiveResults where Source: LiveListRequest {
  /// Creates the results of a request for a list that is shown in pages. It begins with one page,
  /// and ``loadMore()`` adds another one.
  ///
  ///     let ships = LiveResults(Ship.ordered(by: .ascending(\.$name)), pageSize: 50, in: magic)
  ///
  /// All pages stay up to date. After a commit, they are fetched as one list.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - pageSize: The number of elements of a page. If it isn't positive, ``error`` is
  ///     `SQLiteError` with `ResultCode.range`.
  ///   - store: The store to observe.
  public nonisolated convenience init(
    _ request: Source, pageSize: Int, in store: Source.Store
  ) {
    self.init(request, Handoff([]), store, Paging(pageSize: pageSize))
  }

  /// A Boolean value that indicates whether more elements follow the pages that are shown. It is
  /// always false for a list that isn't shown in pages.
  ///
  /// Reading it starts the first fetch.
  public var hasMore: Bool { pagesAreIncomplete }

  /// Adds a page to the list.
  ///
  /// The shown elements stay until the longer list arrives. The call is ignored while the list is
  /// loading, and if no elements follow.
  public func loadMore() {
    guard let paging, content.hasMore, !content.isLoading else { return }
    let next = limit.addingReportingOverflow(paging.pageSize)
    limit = next.overflow ? .max : next.partialValue
    restart()
  }
}

extension LiveResults where Source.Value: Sequence {
  /// Returns the elements of the ``value``, grouped into sections by a key.
  ///
  ///     for section in ships.sections(by: \.port) { print(section.key, section.elements.count) }
  ///
  /// The sections are in the order of their first elements, and no two have the same key. To keep
  /// the order of the list, sort the request by the key first. The sections are
  /// computed by each call. For long lists, let the request compute them, off the main actor:
  ///
  ///     let ports = LiveResults(
  ///       Ship.ordered(by: .ascending(\.$port)).objects.map { $0.sections(by: \.port) }, in: magic)
  ///
  /// - Parameter key: A key path, or a closure that returns the key of an element.
  /// - Returns: The sections. None of them is empty.
  /// - Throws: The errors of `key`.
  /// - Complexity: O(*n*) for *n* elements.
  public func sections<Key: Hashable>(
    by key: (Source.Value.Element) throws -> Key
  ) rethrows -> [LiveSection<Key, Source.Value.Element>] {
    try value.sections(by: key)
  }
}
