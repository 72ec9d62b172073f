// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// The declarations of SwiftUI that MagicObservation and the example use, without behavior. Nothing
// is ever run: `.ci/checks/swiftui` only type-checks against this module.
//
// It was written on Linux and was never compared with an SDK. The isolation of `View` and its `body`
// (main actor), of `DynamicProperty` (none), and of `environment` and `onAppear` (nonisolated) is
// what public sources report of the SDK of Xcode 16, among them OpenSwiftUI, which follows that
// SDK. The isolation and the generic parameters of the other declarations are assumptions.

@MainActor @preconcurrency public protocol View {
  associatedtype Body: View
  @ViewBuilder @MainActor @preconcurrency var body: Body { get }
}

extension Never: View {
  public typealias Body = Never
}

extension View where Body == Never {
  public var body: Never { fatalError() }
}

@resultBuilder public enum ViewBuilder {
  public static func buildExpression<Content: View>(_ content: Content) -> Content { content }
  public static func buildBlock<each Content: View>(
    _ content: repeat each Content
  ) -> TupleView<(repeat each Content)> { TupleView() }
  public static func buildIf<Content: View>(_ content: Content?) -> TupleView<Content?> {
    TupleView()
  }
  public static func buildEither<First: View, Second: View>(
    first: First
  ) -> TupleView<(First, Second)> { TupleView() }
  public static func buildEither<First: View, Second: View>(
    second: Second
  ) -> TupleView<(First, Second)> { TupleView() }
}

public struct TupleView<Content>: View {
  nonisolated init() {}
  public typealias Body = Never
}

public protocol DynamicProperty {
  mutating func update()
}

extension DynamicProperty {
  public mutating func update() {}
}

@propertyWrapper public struct State<Value>: DynamicProperty {
  public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
  public var wrappedValue: Value {
    get { fatalError() }
    nonmutating set { _ = newValue }
  }
}

@propertyWrapper public struct Environment<Value>: DynamicProperty {
  public init(_ keyPath: KeyPath<EnvironmentValues, Value>) { _ = keyPath }
  public var wrappedValue: Value { fatalError() }
}

public protocol EnvironmentKey {
  associatedtype Value
  static var defaultValue: Value { get }
}

public struct EnvironmentValues {
  public subscript<Key: EnvironmentKey>(key: Key.Type) -> Key.Value {
    get { Key.defaultValue }
    set { _ = newValue }
  }
}

extension View {
  nonisolated public func environment<Value>(
    _ keyPath: WritableKeyPath<EnvironmentValues, Value>, _ value: Value
  ) -> some View { TupleView<Self>() }

  nonisolated public func onAppear(perform action: (() -> Void)? = nil) -> some View {
    TupleView<Self>()
  }
}

public struct Text: View {
  nonisolated public init(_ text: some StringProtocol) { _ = text }
  public typealias Body = Never
}

public struct ProgressView: View {
  nonisolated public init() {}
  public typealias Body = Never
}

public struct List<Content: View>: View {
  nonisolated public init(@ViewBuilder content: () -> Content) {}
  public typealias Body = Never
}

public struct Section<Content: View>: View {
  nonisolated public init(_ title: some StringProtocol, @ViewBuilder content: () -> Content) {}
  public typealias Body = Never
}

public struct ForEach<Data: RandomAccessCollection, ID: Hashable, Content: View>: View {
  nonisolated public init(
    _ data: Data, id: KeyPath<Data.Element, ID>,
    @ViewBuilder content: @escaping (Data.Element) -> Content
  ) {}
  public typealias Body = Never
}

extension ForEach where Data.Element: Identifiable, ID == Data.Element.ID {
  nonisolated public init(
    _ data: Data, @ViewBuilder content: @escaping (Data.Element) -> Content
  ) {}
}
