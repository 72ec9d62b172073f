extension Texts {
  /// Literals, operators, and each form of expression in SQLite's manual.
  static let expressions = #"""
    SELECT 1, 1.5, .5, 1., 1e3, 1.5E-3, 1e+3, 0x1F, 0XaB, 9223372036854775808
    SELECT '', 'it''s', x'', X'00fF', NULL, TRUE, FALSE
    SELECT CURRENT_TIME, CURRENT_DATE, CURRENT_TIMESTAMP
    SELECT ?, ?1, ?250, :a, @a, $a, $a::b, $a::b(c), :1, @1, $1, #a, ?01
    SELECT ?1a
    SELECT ?1 a
    SELECT ‸:
    SELECT ‸$
    SELECT ‸@ a
    SELECT ‸: a
    SELECT ‸1a
    SELECT ‸1e
    SELECT ‸1e+
    SELECT ‸0x
    SELECT ‸1.5a
    SELECT ‸1.e
    SELECT 1 'a' ‸'b'
    SELECT 1 'a'
    SELECT 1 "a"
    SELECT 1 [a]
    SELECT 1 `a`
    SELECT ‸x'0'
    SELECT ‸x'0g'
    SELECT x ''
    SELECT ‸'abc
    SELECT ‸"abc
    SELECT ‸`abc
    SELECT ‸[abc
    SELECT "a""b", [a b], `c``d`, "", []
    SELECT a, t.a, main.t.a, "t"."a", 't'.'a', main . t . a
    SELECT a.b.c‸.d
    SELECT a.‸
    SELECT rowid, oid, _rowid_
    SELECT -1, +1, ~1, - -1, -+~-1, NOT 1, NOT NOT 1, -NOT 1
    SELECT 1 + 2 - 3 * 4 / 5 % 6 || 7
    SELECT 1 << 2 >> 3 & 4 | 5
    SELECT 1 < 2, 1 <= 2, 1 > 2, 1 >= 2, 1 = 2, 1 == 2, 1 <> 2, 1 != 2
    SELECT 1 AND 2 OR 3 AND NOT 4
    SELECT 1 IS 2, 1 IS NOT 2, 1 IS NULL, 1 IS NOT NULL, 1 ISNULL, 1 NOTNULL, 1 NOT NULL
    SELECT 1 IS DISTINCT FROM 2, 1 IS NOT DISTINCT FROM 2
    SELECT 1 IS NOT NOT 2, 1 IS NOT (NOT 2)
    SELECT 1 = NOT 2 = 3
    SELECT 1 = NOT 2 AND 3
    SELECT 1 + NOT 2 + 3
    SELECT 1 LIKE 2, 1 NOT LIKE 2, 1 LIKE 2 ESCAPE 3, 1 NOT LIKE 2 ESCAPE 3 AND 4
    SELECT 1 GLOB 2, 1 NOT GLOB 2, 1 REGEXP 2, 1 NOT REGEXP 2, 1 MATCH 2, 1 NOT MATCH 2
    SELECT 1 GLOB 2 ESCAPE 3, 1 REGEXP 2 ESCAPE 3, 1 MATCH 2 ESCAPE 3
    SELECT 1 LIKE 2 ESCAPE 3 + 4
    SELECT 1 LIKE 2 ESCAPE 3 = 4
    SELECT 1 LIKE 2 = 3 ‸ESCAPE 4
    SELECT 1 LIKE 2 LIKE 3
    SELECT 1 = 2 ‸ESCAPE 3
    SELECT 1 BETWEEN 2 AND 3, 1 NOT BETWEEN 2 AND 3
    SELECT 1 BETWEEN 2 AND 3 AND 4
    SELECT 1 BETWEEN 2 AND 3 BETWEEN 4 AND 5
    SELECT 1 BETWEEN 2 BETWEEN 3 AND 4 AND 5
    SELECT 1 BETWEEN NOT 2 AND 3
    SELECT 1 BETWEEN 2 AND NOT 3
    SELECT 1 BETWEEN 2 = 3 AND 4
    SELECT 1 BETWEEN 2 OR 3 AND 4‸
    SELECT 1 BETWEEN 2 OR 3 AND 4 ‸FROM t
    SELECT 1 BETWEEN 2 ‸, 3
    SELECT 1 BETWEEN 2‸
    SELECT 1 BETWEEN (2 OR 3) AND 4
    SELECT 1 IN (), 1 NOT IN (), 1 IN (2), 1 IN (2, 3), 1 IN (SELECT 2), 1 NOT IN (VALUES (2))
    SELECT 1 IN t, 1 IN main.t, 1 IN "t", 1 NOT IN [t], 1 IN 't'
    SELECT 1 IN f(1), 1 IN main.f(1, 2), 1 IN f()
    SELECT 1 IN (WITH a AS (SELECT 1) SELECT * FROM a)
    SELECT 1 IN ((SELECT 2))
    SELECT 1 IN (2) IN (3)
    SELECT 1 IN ‸2
    SELECT 1 IN (‸,)
    SELECT 1 IN (2,‸)
    SELECT (1, 2) IN (SELECT 3, 4), (1, 2) = (3, 4), (1, 2) < (3, 4)
    SELECT (‸)
    SELECT (1,‸)
    SELECT (1 ‸AS a)
    SELECT ((((1))))
    SELECT ((1), ((2)))
    SELECT (SELECT 1), (SELECT 1 UNION SELECT 2), (VALUES (1)), (WITH a AS (SELECT 1) SELECT 2)
    SELECT ((SELECT 1)), -(SELECT 1), (SELECT 1) + (SELECT 2)
    SELECT EXISTS (SELECT 1), NOT EXISTS (SELECT 1), EXISTS (VALUES (1))
    SELECT EXISTS ‸1
    SELECT EXISTS (‸1)
    SELECT 1 COLLATE nocase, 1 COLLATE "nocase", 1 COLLATE 'nocase', 1 COLLATE [a b]
    SELECT a COLLATE nocase COLLATE binary || b
    SELECT -a COLLATE nocase, NOT a COLLATE nocase, a + b COLLATE nocase
    SELECT a COLLATE ‸cross
    SELECT a COLLATE ‸1
    SELECT 1 -> 2, 1 ->> 2, a -> 'b' ->> 'c', a || b -> c
    SELECT 1->‸
    SELECT CAST(1 AS TEXT), CAST(1 AS VARCHAR(10)), CAST(1 AS DECIMAL(10, 2)), CAST(1 AS)
    SELECT CAST(1 AS unsigned big int), CAST(1 AS 'text'), CAST(1 AS "a" b), CAST(1 AS d(-1, +2.5))
    SELECT CAST(1 AS TEXT(1) ‸b)
    SELECT CAST(1 AS TEXT(1, 2‸, 3))
    SELECT CAST(1 AS TEXT(‸))
    SELECT CAST(1 AS TEXT(‸a))
    SELECT CAST(1‸)
    SELECT CAST ‸1
    SELECT CAST(1 AS ‸cross)
    SELECT CASE WHEN 1 THEN 2 END, CASE 1 WHEN 2 THEN 3 ELSE 4 END, CASE WHEN 1 THEN 2 WHEN 3 THEN 4 END
    SELECT CASE CASE WHEN 1 THEN 2 END WHEN 3 THEN 4 END
    SELECT CASE END‸
    SELECT CASE END WHEN 1 THEN 2 END
    SELECT CASE WHEN END‸
    SELECT CASE 1 ‸END
    SELECT CASE WHEN 1 ‸END
    SELECT CASE WHEN 1 THEN 2 ELSE END‸
    SELECT CASE WHEN 1 THEN 2 ELSE 3 ‸ELSE 4 END
    SELECT CASE WHEN 1 THEN 2 ELSE 3‸
    SELECT f(), f(1), f(1, 2), f(*), f(DISTINCT 1), f(DISTINCT), f(ALL 1), f(ALL)
    SELECT f(DISTINCT ‸*)
    SELECT f(‸,)
    SELECT f(1,‸)
    SELECT f(1 ‸AS a)
    SELECT f(‸SELECT 1)
    SELECT f((SELECT 1))
    SELECT f(*‸, 1)
    SELECT count(*), "count"(1), [count](1), `count`(*)
    SELECT 'count'‸(1)
    SELECT main.f‸(1)
    SELECT like(1, 2), glob(1, 2), replace(1, 2, 3), if(1, 2), match(1, 2), regexp(1, 2)
    SELECT left‸(1)
    SELECT ‸select(1)
    SELECT CURRENT_TIME‸(1)
    SELECT sum(a) FILTER (WHERE b), sum(a) FILTER (WHERE b) OVER (), sum(a) OVER w, sum(a) OVER ()
    SELECT sum(a) FILTER (‸b)
    SELECT sum(a) FILTER WHERE b
    SELECT sum(a) OVER (PARTITION BY b, c ORDER BY d DESC NULLS LAST)
    SELECT sum(a) OVER (w), sum(a) OVER (w ORDER BY a), sum(a) OVER (w PARTITION BY b ROWS 1 PRECEDING)
    SELECT sum(a) OVER (ROWS UNBOUNDED PRECEDING), sum(a) OVER (RANGE CURRENT ROW), sum(a) OVER (GROUPS 2 PRECEDING)
    SELECT sum(a) OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
    SELECT sum(a) OVER (ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE TIES)
    SELECT sum(a) OVER (RANGE BETWEEN CURRENT ROW AND 1 + 1 FOLLOWING EXCLUDE NO OTHERS)
    SELECT sum(a) OVER (GROUPS BETWEEN 1 FOLLOWING AND 2 FOLLOWING EXCLUDE CURRENT ROW)
    SELECT sum(a) OVER (ORDER BY 1 ROWS CURRENT ROW EXCLUDE GROUP)
    SELECT sum(a) OVER (ROWS BETWEEN UNBOUNDED ‸FOLLOWING AND CURRENT ROW)
    SELECT sum(a) OVER (ROWS UNBOUNDED ‸FOLLOWING)
    SELECT sum(a) OVER (ROWS BETWEEN 1 PRECEDING‸)
    SELECT sum(a) OVER (ROWS CURRENT ROW EXCLUDE ‸1)
    SELECT sum(a) OVER (ORDER BY a ‸PARTITION BY b)
    SELECT sum(a) OVER (‸1)
    SELECT sum(a) OVER ‸1
    SELECT sum(a) OVER window, sum(a) OVER over, sum(a) OVER (window)
    SELECT sum(a) OVER
    SELECT sum(a) FILTER
    SELECT sum(a) filter, sum(a) over FROM t
    SELECT over, filter, window, over.a, filter.b, window.c FROM over, filter, window
    SELECT (1) OVER, (1) FILTER
    SELECT a OVER, a FILTER
    SELECT (1) ‸OVER (ORDER BY 1)
    SELECT (1) ‸FILTER (WHERE 1)
    SELECT f(1) OVER w OVER ‸w
    SELECT f(1) OVER w FILTER ‸(WHERE 1)
    SELECT RAISE(IGNORE), RAISE(ROLLBACK, 'a'), RAISE(ABORT, "a"), RAISE(FAIL, a)
    SELECT RAISE(‸1)
    SELECT RAISE(IGNORE‸, 'a')
    SELECT RAISE(ABORT‸)
    SELECT RAISE(ABORT, ‸1)
    SELECT RAISE ‸a
    SELECT a GLOB b COLLATE c, a ISNULL ISNULL, a NOTNULL IS NULL, a NOT NULL NOT NULL
    SELECT 1 NOT ‸2
    SELECT 1 IS‸
    SELECT 1 +‸
    SELECT 1 * ‸/ 2
    SELECT * ‸1
    SELECT 1 ‸! 2
    SELECT 1 ‸! = 2
    SELECT 1 ‸# 2
    SELECT ‸#
    SELECT ‸#1
    SELECT #1 ‸1
    SELECT #a
    SELECT 1 ‸\ 2
    SELECT 1 ‸^ 2
    SELECT ‸{
    SELECT 1 ‸}
    SELECT 1‸)
    SELECT (1‸
    SELECT (1 ‸2)
    SELECT a = b = c, a < b < c, a || b || c, a - b - c, a - (b - c)
    SELECT a = (b = c), (a = b) = c, NOT (a = b), (NOT a) = b
    SELECT a AND b AND c, a AND (b AND c), a OR b OR c, a OR (b OR c)
    SELECT -(-1), -(1), - - 1, ~(~1), +(+1)
    SELECT a IS (b IS c), a IS b IS c, a ISNULL IS b, (a IS NOT b) IS NOT c
    SELECT a || b COLLATE c || d, (a || b) COLLATE c, a COLLATE c COLLATE d
    SELECT a NOT IN (1) AND b NOT BETWEEN 1 AND 2 OR c NOT LIKE d
    SELECT NOT a IN (1), NOT a BETWEEN 1 AND 2, NOT a LIKE b, NOT a IS NULL, NOT a = b
    SELECT (NOT a) IN (1), (NOT a) IS NULL, (NOT a) LIKE b
    SELECT - a IN (1), (- a) IN (1), -(a IN (1)), - a LIKE b, -(a LIKE b)
    SELECT abort, action, ‸add, after, always, analyze, asc, attach, before, begin, by, cascade, column, conflict, current
    SELECT database, deferred, desc, detach, do, each, end, exclude, exclusive, explain, fail, first, following, for
    SELECT generated, glob, groups, if, ignore, immediate, initially, instead, key, last, like, match, materialized, no
    SELECT nulls, of, offset, others, partition, plan, pragma, preceding, query, range, recursive, regexp, reindex
    SELECT release, rename, replace, restrict, rollback, row, rows, savepoint, temp, temporary, ties, trigger
    SELECT unbounded, vacuum, view, virtual, with, without, cross, full, inner, left, natural, outer, right, indexed
    SELECT abort.a, cross.b, indexed.c, left.right, if.full, with.x
    SELECT ‸select
    SELECT ‸table
    SELECT ‸index
    SELECT (with‸)
    SELECT 1 IN (with‸)
    """#
}
