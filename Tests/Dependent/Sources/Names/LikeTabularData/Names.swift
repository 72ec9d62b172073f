// The names of types in TabularData.
package struct Column { package init() {} }
package struct AnyColumn { package init() {} }
package struct ColumnID { package init() {} }
package struct DataFrame { package init() {} }
