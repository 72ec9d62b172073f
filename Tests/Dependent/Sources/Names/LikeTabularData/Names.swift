// The names of types in TabularData.
public struct Column { public init() {} }
public struct AnyColumn { public init() {} }
public struct ColumnID { public init() {} }
public struct DataFrame { public init() {} }
