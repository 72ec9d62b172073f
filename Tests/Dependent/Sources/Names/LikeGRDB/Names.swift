// The names of types in GRDB.
package final class Database { package init() {} }
package final class Statement { package init() {} }
package final class Row { package init() {} }
package class Record { package init() {} }
package struct Column { package init() {} }
package struct SQL { package init() {} }
package struct ResultCode { package init() {} }
package struct ForeignKey { package init() {} }
package final class TableDefinition { package init() {} }
package final class ColumnDefinition { package init() {} }
package struct Table { package init() {} }
