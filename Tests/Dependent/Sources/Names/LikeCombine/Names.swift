// The names of types in Combine.
package struct Record { package init() {} }
package struct Just { package init() {} }
package struct Future { package init() {} }
package protocol Publisher {}
package protocol Subject {}
