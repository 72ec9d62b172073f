/// The places where a word can be a keyword or a name. SQLite decides this by context, so each of
/// its keywords is tried in each place.
enum KeywordMatrix {
  /// Statements with `%` in place of the word.
  static let places = #"""
    %
    % t
    SELECT %
    SELECT % FROM t
    SELECT (%)
    SELECT (% + 1)
    SELECT 1 + %
    SELECT -%
    SELECT NOT %
    SELECT 1 %
    SELECT 1 % FROM t
    SELECT a % FROM t
    SELECT f(1) %
    SELECT (1) %
    SELECT 1 % 2
    SELECT a % b FROM t
    SELECT 1 NOT % 2
    SELECT 1 IS % 2
    SELECT 1 IS NOT % 2
    SELECT 1 AS %
    SELECT 1 AS % FROM t
    SELECT %.a
    SELECT a.%
    SELECT main.%.a
    SELECT %.t.a
    SELECT %.* FROM t
    SELECT * %
    SELECT * % FROM t
    SELECT t.* %
    SELECT %(1)
    SELECT %(*)
    SELECT %()
    SELECT % 1
    SELECT % 1 FROM t
    SELECT f(%)
    SELECT f(% 1)
    SELECT f(1 %)
    SELECT f(1) % (ORDER BY 1)
    SELECT f(1) % (WHERE 1)
    SELECT f(1) % w
    SELECT f(1) OVER %
    SELECT f(1) OVER (%)
    SELECT f(1) OVER (% ORDER BY 1)
    SELECT f(1) OVER (ORDER BY 1 %)
    SELECT f(1) OVER (ROWS %)
    SELECT f(1) OVER (ROWS 1 %)
    SELECT f(1) OVER (ROWS CURRENT ROW EXCLUDE %)
    SELECT f(1) OVER (% CURRENT ROW)
    SELECT f(1) FILTER (% 1)
    SELECT CASE % END
    SELECT CASE % WHEN 1 THEN 2 END
    SELECT CASE WHEN 1 THEN 2 % 3 END
    SELECT CAST(1 AS %)
    SELECT CAST(1 AS a %)
    SELECT CAST(1 % TEXT)
    SELECT 1 COLLATE %
    SELECT 1 IN %
    SELECT 1 IN main.%
    SELECT 1 IN %.t
    SELECT 1 IN %(1)
    SELECT 1 IN (%)
    SELECT 1 BETWEEN 2 % 3
    SELECT 1 LIKE 2 % 3
    SELECT RAISE(%)
    SELECT RAISE(%, 'x')
    SELECT RAISE(ABORT, %)
    SELECT EXISTS %
    SELECT 1 FROM %
    SELECT 1 FROM % WHERE 1
    SELECT 1 FROM main.%
    SELECT 1 FROM %.t
    SELECT 1 FROM %(1)
    SELECT 1 FROM (%)
    SELECT 1 FROM (% JOIN t)
    SELECT 1 FROM t %
    SELECT 1 FROM t % WHERE 1
    SELECT 1 FROM t % JOIN u
    SELECT 1 FROM t % u
    SELECT 1 FROM t % 1
    SELECT 1 FROM t AS %
    SELECT 1 FROM t NOT %
    SELECT 1 FROM t INDEXED BY %
    SELECT 1 FROM (SELECT 1) %
    SELECT 1 FROM t JOIN u %
    SELECT 1 FROM t JOIN u % 1
    SELECT 1 FROM t JOIN u % (a)
    SELECT 1 FROM t JOIN u USING (%)
    SELECT 1 FROM t LEFT % JOIN u
    SELECT 1 FROM t WHERE %
    SELECT 1 FROM t WHERE 1 %
    SELECT 1 FROM t WHERE 1 % BY 2
    SELECT 1 FROM t WHERE 1 % 2
    SELECT 1 FROM t GROUP BY %
    SELECT 1 FROM t GROUP BY 1 % 2
    SELECT 1 ORDER BY %
    SELECT 1 ORDER BY 1 %
    SELECT 1 ORDER BY 1 NULLS %
    SELECT 1 LIMIT %
    SELECT 1 LIMIT 1 % 2
    SELECT 1 % SELECT 2
    SELECT 1 UNION % SELECT 2
    SELECT 1 WINDOW % AS ()
    SELECT 1 WINDOW w AS (%)
    SELECT 1 WINDOW w AS () % 1
    WITH % AS (SELECT 1) SELECT 1
    WITH %(a) AS (SELECT 1) SELECT 1
    WITH a(%) AS (SELECT 1) SELECT 1
    WITH % a AS (SELECT 1) SELECT 1
    WITH a AS % (SELECT 1) SELECT 1
    WITH a AS (SELECT 1), % AS (SELECT 1) SELECT 1
    WITH a AS (SELECT 1) % INTO t VALUES (1)
    VALUES (%)
    INSERT INTO %
    INSERT INTO % VALUES (1)
    INSERT INTO main.% VALUES (1)
    INSERT INTO %.t VALUES (1)
    INSERT INTO t AS % VALUES (1)
    INSERT INTO t(%) VALUES (1)
    INSERT INTO t % VALUES (1)
    INSERT INTO t %
    INSERT % INTO t VALUES (1)
    INSERT OR % INTO t VALUES (1)
    INSERT INTO t VALUES (1) %
    INSERT INTO t VALUES (1) ON %
    INSERT INTO t VALUES (1) ON CONFLICT DO %
    INSERT INTO t VALUES (1) RETURNING %
    UPDATE % SET a = 1
    UPDATE t SET % = 1
    UPDATE t SET (%) = 1
    UPDATE t SET a = %
    UPDATE t % SET a = 1
    UPDATE t AS % SET a = 1
    UPDATE OR % t SET a = 1
    UPDATE t SET a = 1 %
    UPDATE t SET a = 1 FROM %
    DELETE FROM %
    DELETE FROM % WHERE 1
    DELETE FROM t AS %
    DELETE FROM t %
    CREATE %
    CREATE % t(a)
    CREATE % TABLE t(a)
    CREATE TABLE %(a)
    CREATE TABLE main.%(a)
    CREATE TABLE %.t(a)
    CREATE TABLE t(%)
    CREATE TABLE t(a, %)
    CREATE TABLE t(% INT)
    CREATE TABLE t(a %)
    CREATE TABLE t(a % 1)
    CREATE TABLE t(a % (1))
    CREATE TABLE t(a % KEY)
    CREATE TABLE t(a INT %)
    CREATE TABLE t(a NOT NULL %)
    CREATE TABLE t(a CONSTRAINT %)
    CREATE TABLE t(a CONSTRAINT x %)
    CREATE TABLE t(a DEFAULT %)
    CREATE TABLE t(a DEFAULT -%)
    CREATE TABLE t(a DEFAULT 1 %)
    CREATE TABLE t(a COLLATE %)
    CREATE TABLE t(a PRIMARY KEY %)
    CREATE TABLE t(a REFERENCES %)
    CREATE TABLE t(a REFERENCES b(%))
    CREATE TABLE t(a REFERENCES b %)
    CREATE TABLE t(a REFERENCES b ON DELETE %)
    CREATE TABLE t(a REFERENCES b ON % CASCADE)
    CREATE TABLE t(a REFERENCES b MATCH %)
    CREATE TABLE t(a REFERENCES b NOT %)
    CREATE TABLE t(a REFERENCES b DEFERRABLE INITIALLY %)
    CREATE TABLE t(a NOT NULL ON CONFLICT %)
    CREATE TABLE t(a, CONSTRAINT %)
    CREATE TABLE t(a, UNIQUE (%))
    CREATE TABLE t(a, FOREIGN KEY (a) REFERENCES %)
    CREATE TABLE t(a, CHECK (1) %)
    CREATE TABLE t(a AS (1) %)
    CREATE TABLE t(a) %
    CREATE TABLE t(a) % ROWID
    CREATE TABLE t(a) WITHOUT %
    CREATE TABLE t %
    CREATE TABLE IF NOT EXISTS %(a)
    CREATE INDEX % ON t(a)
    CREATE INDEX i ON %(a)
    CREATE INDEX i ON t(%)
    CREATE INDEX i ON t(a %)
    CREATE INDEX i ON t(a) %
    CREATE VIEW % AS SELECT 1
    CREATE VIEW v(%) AS SELECT 1
    CREATE TRIGGER % INSERT ON t BEGIN SELECT 1; END
    CREATE TRIGGER r % ON t BEGIN SELECT 1; END
    CREATE TRIGGER r % INSERT ON t BEGIN SELECT 1; END
    CREATE TRIGGER r UPDATE OF % ON t BEGIN SELECT 1; END
    CREATE TRIGGER r INSERT ON % BEGIN SELECT 1; END
    CREATE TRIGGER r INSERT ON t % BEGIN SELECT 1; END
    CREATE TRIGGER r INSERT ON t WHEN % BEGIN SELECT 1; END
    CREATE TRIGGER r INSERT ON t BEGIN %; END
    CREATE TRIGGER r INSERT ON t BEGIN SELECT 1; %
    CREATE TRIGGER r INSERT ON t BEGIN SELECT 1; END %
    CREATE TRIGGER r INSERT ON t BEGIN DELETE FROM %; END
    CREATE VIRTUAL TABLE % USING m
    CREATE VIRTUAL TABLE v USING %
    CREATE VIRTUAL TABLE v USING m(%)
    CREATE VIRTUAL TABLE v USING m %
    ALTER TABLE % RENAME TO u
    ALTER TABLE t RENAME TO %
    ALTER TABLE t RENAME % TO a
    ALTER TABLE t RENAME COLUMN % TO a
    ALTER TABLE t RENAME a TO %
    ALTER TABLE t ADD %
    ALTER TABLE t ADD COLUMN %
    ALTER TABLE t ADD COLUMN a %
    ALTER TABLE t DROP %
    ALTER TABLE t DROP COLUMN %
    ALTER TABLE t %
    DROP % t
    DROP TABLE %
    DROP TABLE IF EXISTS %
    BEGIN %
    BEGIN % TRANSACTION
    BEGIN TRANSACTION %
    COMMIT %
    END TRANSACTION %
    ROLLBACK %
    ROLLBACK TO %
    ROLLBACK TRANSACTION %
    SAVEPOINT %
    RELEASE %
    RELEASE SAVEPOINT %
    PRAGMA %
    PRAGMA main.%
    PRAGMA x = %
    PRAGMA x(%)
    PRAGMA x = -%
    PRAGMA x %
    ATTACH %
    ATTACH % AS y
    ATTACH x AS %
    ATTACH x % y
    DETACH %
    VACUUM %
    VACUUM % 'x'
    ANALYZE %
    ANALYZE main.%
    REINDEX %
    EXPLAIN %
    EXPLAIN % SELECT 1
    EXPLAIN QUERY PLAN %
    """#.split(separator: "\n").map(String.init)

  /// Returns the words for each place: all keywords, and other tokens.
  static func words(_ keywords: [String]) -> [String] {
    keywords + [
      "x", "\"x\"", "'x'", "[x]", "`x`", "1", "1.5", "x'00'", "?", ":x", "*", "(", ")", ",", ".",
      ";", "-", "=", "", "(x)", "(SELECT 1)",
    ]
  }
}
