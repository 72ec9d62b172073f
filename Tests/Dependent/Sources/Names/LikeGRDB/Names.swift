// The names of types in GRDB.
public final class Database { public init() {} }
public final class Statement { public init() {} }
public final class Row { public init() {} }
public class Record { public init() {} }
public struct Column { public init() {} }
public struct SQL { public init() {} }
public struct ResultCode { public init() {} }
public struct ForeignKey { public init() {} }
public final class TableDefinition { public init() {} }
public final class ColumnDefinition { public init() {} }
public struct Table { public init() {} }
