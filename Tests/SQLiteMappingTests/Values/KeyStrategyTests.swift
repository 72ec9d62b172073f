import SQLiteMapping
import Testing

@Suite struct KeyStrategyTests {
  static let names: [(String, String)] = [
    ("", ""), ("name", "name"), ("firstName", "first_name"), ("someURLValue", "some_url_value"),
    ("URLValue", "url_value"), ("valueURL", "value_url"), ("URL", "url"), ("aB", "a_b"),
    ("aBTest", "a_b_test"), ("utf8Text", "utf8_text"), ("line2", "line2"), ("x2Y", "x2_y"),
    ("HTTP2Server", "http2_server"), ("some_Value", "some_value"), ("_ID", "_id"),
    ("__privateName_", "__private_name_"), ("already_snake", "already_snake"),
    ("ALL_CAPS", "all_caps"), ("straßeÄndern", "straße_ändern"), ("größeÉtoile", "größe_étoile"),
    ("名前", "名前"), ("order", "order"), ("a\"B", "a\"_b"), ("İd", "i\u{307}d"),
  ]

  @Test(arguments: names)
  func `a property name is converted to snake case`(property: String, column: String) {
    #expect(KeyStrategy.convertToSnakeCase.column(for: property) == column)
    #expect(KeyStrategy.convertToSnakeCase.column(for: column) == column)
  }

  @Test(arguments: names)
  func `default keys are the property names`(property: String, column: String) {
    #expect(KeyStrategy.useDefaultKeys.column(for: property) == property)
  }
}
