extension Texts {
  /// Statements that the grammar accepts but SQLite rejects: its message and the statement. If
  /// SQLite reports an offset, it is marked.
  static let semanticErrorLines = #"""
    unknown table option: foo | CREATE TABLE t(a) foo
    unknown table option: foo | CREATE TABLE t(a) WITHOUT foo
    unknown table option: "strict" | CREATE TABLE t(a) "strict"
    unknown table option: "rowid" | CREATE TABLE t(a) WITHOUT "rowid"
    unknown table option: foo | CREATE TABLE t(a), foo, bar
    PRIMARY KEY missing on table t | CREATE TABLE t(a) WITHOUT ROWID, foo
    unknown table option: foo | CREATE TABLE t(a INT) STRICT, foo
    unknown table option: foo | CREATE TABLE t(a) foo, WITHOUT ROWID
    must have at least one non-generated column | CREATE TABLE t(a AS (1)) foo
    missing datatype for t.a | CREATE TABLE t(a) STRICT, foo
    unknown table option: rowid | CREATE TABLE t(a) rowid
    unknown join type: LEFT RIGHT x | SELECT a FROM a ‸LEFT RIGHT x JOIN b
    unknown join type: LEFT INNER | SELECT a FROM a ‸LEFT INNER JOIN b
    unknown join type: CROSS LEFT | SELECT a FROM a ‸CROSS LEFT JOIN b
    unknown join type: OUTER | SELECT a FROM a ‸OUTER JOIN b
    unknown join type: NATURAL OUTER | SELECT a FROM a ‸NATURAL OUTER JOIN b
    unknown join type: INNER OUTER | SELECT a FROM a ‸INNER OUTER JOIN b
    unknown join type: FULL CROSS | SELECT a FROM a ‸FULL CROSS JOIN b
    unknown join type: LEFT foo | SELECT a FROM a ‸LEFT foo JOIN b
    unknown join type: NATURAL LEFT foo | SELECT a FROM a ‸NATURAL LEFT foo JOIN b
    no such table: a | SELECT a FROM a LEFT OUTER LEFT JOIN b
    no such table: a | SELECT a FROM a NATURAL NATURAL JOIN b
    no such table: a | SELECT a FROM a INNER CROSS JOIN b
    no such table: a | SELECT a FROM a LEFT RIGHT FULL JOIN b
    unknown join type: LEFT "outer" | SELECT a FROM a ‸LEFT "outer" JOIN b
    no such table: a | SELECT a FROM a CROSS NATURAL INNER JOIN b
    a JOIN clause is required before ON | SELECT a FROM a ON 1
    a JOIN clause is required before USING | SELECT a FROM a USING (b)
    a JOIN clause is required before ON | SELECT a FROM (b ON 1)
    no such table: a | SELECT a FROM a, b ON 1
    a JOIN clause is required before ON | SELECT a FROM a ON 1 JOIN b
    a JOIN clause is required before ON | UPDATE t SET a = 1 FROM b ON 1
    ORDER BY clause should come after UNION not before | SELECT 1 ORDER BY 1 UNION SELECT 2
    LIMIT clause should come after UNION not before | SELECT 1 LIMIT 1 UNION SELECT 2
    ORDER BY clause should come after UNION ALL not before | SELECT 1 ORDER BY 1 UNION ALL SELECT 2
    LIMIT clause should come after EXCEPT not before | SELECT 1 LIMIT 1 EXCEPT SELECT 2
    ORDER BY clause should come after INTERSECT not before | SELECT 1 ORDER BY 1 LIMIT 2 INTERSECT SELECT 2
    ORDER BY clause should come after UNION not before | SELECT 1 FROM t ORDER BY 1 UNION SELECT 2 UNION SELECT 3
    ORDER BY clause should come after UNION not before | SELECT * FROM (SELECT 1 ORDER BY 1 UNION SELECT 2)
    duplicate WITH table name: a | WITH a AS (SELECT 1), a AS (SELECT 2) SELECT 1
    duplicate WITH table name: A | WITH a AS (SELECT 1), A AS (SELECT 2) SELECT 1
    duplicate WITH table name: a | WITH a AS (SELECT 1), "a" AS (SELECT 2) SELECT 1
    duplicate WITH table name: a | WITH a AS (SELECT 1), b AS (SELECT 2), a AS (SELECT 2) SELECT 1
    syntax error after column name "a" | CREATE VIEW v(a COLLATE b) AS SELECT 1
    syntax error after column name "a" | CREATE VIEW v(a DESC) AS SELECT 1
    syntax error after column name "b" | CREATE VIEW v(a, b ASC) AS SELECT 1
    syntax error after column name "c" | CREATE TABLE t(a REFERENCES b(c COLLATE d))
    syntax error after column name "a" | CREATE TABLE t(a, FOREIGN KEY (a DESC) REFERENCES b)
    syntax error after column name "b" | WITH a(b COLLATE c) AS (SELECT 1) SELECT 1
    syntax error after column name "b" | WITH a(b DESC) AS (SELECT 1) SELECT 1
    variable number must be between ?1 and ?250000 | SELECT ‸?0
    variable number must be between ?1 and ?250000 | SELECT ‸?250001
    variable number must be between ?1 and ?250000 | SELECT ‸?99999999999
    too many SQL variables | SELECT ?250000, ‸?
    2 columns assigned 1 values | UPDATE t SET (a, b) = 1
    2 columns assigned 3 values | UPDATE t SET (a, b) = (1, 2, 3)
    2 columns assigned 1 values | UPDATE t SET (a, b) = (1)
    1 columns assigned 2 values | UPDATE t SET (a) = (1, 2)
    2 columns assigned 1 values | INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE SET (b, c) = 1
    row value misused | SELECT 1 IN ((1, 2))
    IN(...) element has 1 term - expected 2 | SELECT (1, 2) IN (3)
    IN(...) element has 1 term - expected 2 | SELECT (1, 2) IN (3, 4)
    IN(...) element has 1 term - expected 2 | SELECT (1, 2) IN ((3, 4), 5)
    IN(...) element has 3 terms - expected 2 | SELECT (1, 2) IN ((3, 4), (5, 6, 7))
    DISTINCT is not supported for window functions | SELECT sum(DISTINCT a) OVER ()
    DISTINCT is not supported for window functions | SELECT sum(DISTINCT a) FILTER (WHERE 1) OVER w
    unsupported frame specification | SELECT f(a) OVER (ROWS BETWEEN CURRENT ROW AND 1 PRECEDING)
    unsupported frame specification | SELECT f(a) OVER (ROWS BETWEEN 1 FOLLOWING AND 1 PRECEDING)
    unsupported frame specification | SELECT f(a) OVER (ROWS BETWEEN 1 FOLLOWING AND CURRENT ROW)
    unsupported frame specification | SELECT f(a) OVER (RANGE 1 FOLLOWING)
    unsupported frame specification | SELECT 1 WINDOW w AS (GROUPS 1 FOLLOWING)
    no such column: a | SELECT f(‸a) OVER (ROWS CURRENT ROW EXCLUDE NO OTHERS)
    parameters are not allowed in views | CREATE VIEW v AS SELECT ?
    parameters are not allowed in views | CREATE VIEW v AS SELECT :a
    trigger cannot use variables | CREATE TRIGGER r INSERT ON t BEGIN SELECT ?; END
    trigger cannot use variables | CREATE TRIGGER r INSERT ON t WHEN ?1 BEGIN SELECT 1; END
    qualified table names are not allowed on INSERT, UPDATE, and DELETE statements within triggers | CREATE TRIGGER r INSERT ON t BEGIN INSERT INTO main.u VALUES (1); END
    qualified table names are not allowed on INSERT, UPDATE, and DELETE statements within triggers | CREATE TRIGGER r INSERT ON t BEGIN UPDATE main.u SET a = 1; END
    qualified table names are not allowed on INSERT, UPDATE, and DELETE statements within triggers | CREATE TRIGGER r INSERT ON t BEGIN DELETE FROM main.u; END
    the INDEXED BY clause is not allowed on UPDATE or DELETE statements within triggers | CREATE TRIGGER r INSERT ON t BEGIN UPDATE u INDEXED BY i SET a = 1; END
    the NOT INDEXED clause is not allowed on UPDATE or DELETE statements within triggers | CREATE TRIGGER r INSERT ON t BEGIN UPDATE u NOT INDEXED SET a = 1; END
    the INDEXED BY clause is not allowed on UPDATE or DELETE statements within triggers | CREATE TRIGGER r INSERT ON t BEGIN DELETE FROM u INDEXED BY i; END
    the NOT INDEXED clause is not allowed on UPDATE or DELETE statements within triggers | CREATE TRIGGER r INSERT ON t BEGIN DELETE FROM u NOT INDEXED; END
    cannot use RETURNING in a trigger | CREATE TRIGGER r INSERT ON t BEGIN INSERT INTO u VALUES (1) RETURNING a; END
    cannot use RETURNING in a trigger | CREATE TRIGGER r INSERT ON t BEGIN INSERT INTO u VALUES (1) ON CONFLICT DO NOTHING RETURNING *; END
    temporary table name must be unqualified | CREATE TEMP TABLE main.t(a)
    temporary trigger may not have qualified name | CREATE TEMP TRIGGER main.r INSERT ON t BEGIN SELECT 1; END
    temporary trigger may not have qualified name | CREATE TEMP TRIGGER temp.r INSERT ON t BEGIN SELECT 1; END
    duplicate column name: a | CREATE TABLE t(a, a)
    table "t" has more than one primary key | CREATE TABLE t(a PRIMARY KEY, b PRIMARY KEY)
    AUTOINCREMENT is only allowed on an INTEGER PRIMARY KEY | CREATE TABLE t(a TEXT PRIMARY KEY AUTOINCREMENT)
    PRIMARY KEY missing on table t | CREATE TABLE t(a) WITHOUT ROWID
    no such column: b | CREATE TABLE t(a, PRIMARY KEY (‸b))
    default value of column [a] is not constant | CREATE TABLE t(a DEFAULT (b))
    generated columns cannot be part of the PRIMARY KEY | CREATE TABLE t(a AS (1) PRIMARY KEY)
    must have at least one non-generated column | CREATE TABLE t(a AS (1))
    unknown column "b" in foreign key definition | CREATE TABLE t(a, FOREIGN KEY (b) REFERENCES c)
    number of columns in foreign key does not match the number of columns in the referenced table | CREATE TABLE t(a, FOREIGN KEY (a) REFERENCES c(d, e))
    foreign key on a should reference only one column of table c | CREATE TABLE t(a REFERENCES ‸c(d, e))
    missing datatype for t.a | CREATE TABLE t(a) STRICT
    unknown datatype for t.a: "foo" | CREATE TABLE t(a foo) STRICT
    expressions prohibited in PRIMARY KEY and UNIQUE constraints | CREATE TABLE t(a UNIQUE, PRIMARY KEY (a + 1))
    unsupported use of NULLS LAST | CREATE TABLE t(a, PRIMARY KEY (a NULLS LAST))
    parameters prohibited in CHECK constraints | CREATE TABLE t(a, CHECK (‸?))
    no such column: a | SELECT f(‸a, b) AS x HAVING 1
    wrong number of arguments to function abs() | SELECT ‸abs()
    hex literal too big: 0x12345678901234567 | SELECT ‸0x12345678901234567
    RAISE() may only be used within a trigger-program | SELECT RAISE(IGNORE)
    no such column: a.b.c | SELECT ‸a.b.c
    row value misused | SELECT (1, 2)
    row value misused | SELECT ‸1 = (1, 2)
    all VALUES must have the same number of terms | VALUES (1), (1, 2)
    SELECTs to the left and right of UNION do not have the same number of result columns | SELECT 1 UNION SELECT 1, 2
    no such table: t | INSERT INTO t(a) VALUES (1, 2)
    no tables specified | SELECT *
    no such table: t | DELETE FROM t RETURNING count(*)
    """#
}
