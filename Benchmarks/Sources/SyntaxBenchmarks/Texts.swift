/// Typical SQL statements, generated from a few templates and a sequence of numbers.
enum Texts {
  static let schema = [
    "CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT, email TEXT, age INTEGER, city TEXT)",
    "CREATE TABLE note (id INTEGER PRIMARY KEY, owner INTEGER REFERENCES person, title TEXT, "
      + "body TEXT, created TEXT, score REAL)",
  ]

  static let select =
    "SELECT id, title, created FROM note WHERE owner = ?1 AND score > 2.5 ORDER BY created DESC "
    + "LIMIT 100 OFFSET 1"

  static var statements: [String] {
    (0..<400).flatMap { number in
      shapes.map { $0.split(separator: "#").joined(separator: "\(number)") }
    }
  }

  /// The templates. `#` is a placeholder for a number.
  private static let shapes = [
    "SELECT id, name, email FROM person WHERE age > # AND city = 'Berlin' ORDER BY name",
    """
    SELECT p.name, count(*) AS notes FROM person AS p LEFT JOIN note AS n ON n.owner = p.id \
    WHERE p.age BETWEEN 18 AND # GROUP BY p.id HAVING count(*) > 3 LIMIT 50
    """,
    """
    INSERT INTO note (owner, title, body, created, score) VALUES (#, 'It''s title #', ?, \
    datetime('now'), 0.5), (?, ?, ?, ?, #.25)
    """,
    "UPDATE person SET age = age + 1, city = coalesce(?2, city) WHERE id = # ",
    """
    DELETE FROM note WHERE owner IN (SELECT id FROM person WHERE email LIKE '%@example.org') \
    AND score < -#.0
    """,
    """
    CREATE TABLE t# (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL COLLATE NOCASE, \
    size INTEGER DEFAULT 0 CHECK (size >= 0), UNIQUE (name, size))
    """,
    """
    WITH recent AS (SELECT * FROM note WHERE created > date('now', '-7 days')) SELECT title, \
    CASE WHEN score > 3 THEN 'good' ELSE 'poor' END FROM recent WHERE owner = # LIMIT 9
    """,
    """
    INSERT INTO person (id, name) VALUES (#, ?) ON CONFLICT (id) DO UPDATE SET name = \
    excluded.name WHERE name IS NOT excluded.name
    """,
    "-- the newest of each owner\nSELECT owner, max(created) FROM note GROUP BY owner",
    "SELECT 1",
  ]
}
