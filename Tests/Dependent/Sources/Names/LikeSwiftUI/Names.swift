// The names of types in SwiftUI and Charts that a database library might also use.
public protocol View {}
public struct Link { public init() {} }
public struct Table { public init() {} }
public struct TableColumn { public init() {} }
public struct TableRow { public init() {} }
public struct Section { public init() {} }
public struct Group { public init() {} }
public struct List { public init() {} }
public struct Label { public init() {} }
public struct Text { public init() {} }
public struct Path { public init() {} }
public struct Transaction { public init() {} }
public struct FetchRequest { public init() {} }
public struct FetchedResults { public init() {} }
public struct Settings { public init() {} }
public struct Environment { public init() {} }
public struct State { public init() {} }
public struct Binding { public init() {} }
public struct Namespace { public init() {} }
public struct Plot { public init() {} }
