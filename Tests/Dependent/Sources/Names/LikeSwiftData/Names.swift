// The names of types in SwiftData and Core Data.
package struct Query { package init() {} }
package struct Schema { package init() {} }
package struct Attribute { package init() {} }
package struct Relationship { package init() {} }
package struct MigrationStage { package init() {} }
package struct FetchDescriptor { package init() {} }
package protocol PersistentModel {}
