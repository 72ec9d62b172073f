// The names of types in Combine.
public struct Record { public init() {} }
public struct Just { public init() {} }
public struct Future { public init() {} }
public protocol Publisher {}
public protocol Subject {}
