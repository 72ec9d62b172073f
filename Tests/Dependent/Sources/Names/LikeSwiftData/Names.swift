// The names of types in SwiftData and Core Data.
public struct Query { public init() {} }
public struct Schema { public init() {} }
public struct Attribute { public init() {} }
public struct Relationship { public init() {} }
public struct MigrationStage { public init() {} }
public struct FetchDescriptor { public init() {} }
public protocol PersistentModel {}
