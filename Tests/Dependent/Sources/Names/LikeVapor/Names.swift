// The names of types in Vapor and Fluent.
package final class Request { package init() {} }
package struct Response { package init() {} }
package protocol Database {}
package protocol Migration {}
package protocol Model {}
