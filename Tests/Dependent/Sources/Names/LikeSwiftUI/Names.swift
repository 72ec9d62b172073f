// The names of types in SwiftUI and Charts that a database library might also use.
package protocol View {}
package struct Link { package init() {} }
package struct Table { package init() {} }
package struct TableColumn { package init() {} }
package struct TableRow { package init() {} }
package struct Section { package init() {} }
package struct Group { package init() {} }
package struct List { package init() {} }
package struct Label { package init() {} }
package struct Text { package init() {} }
package struct Path { package init() {} }
package struct Transaction { package init() {} }
package struct FetchRequest { package init() {} }
package struct FetchedResults { package init() {} }
package struct Settings { package init() {} }
package struct Environment { package init() {} }
package struct State { package init() {} }
package struct Binding { package init() {} }
package struct Namespace { package init() {} }
package struct Plot { package init() {} }
