-- abs(i)
ABS(CAST("i" AS DOUBLE))

-- abs(few)
ABS("few")

-- abs(f)
ABS("f")

-- few + sure
("few" + "sure")

-- f + share
NULLIF(("f" + "share"), CAST('nan' AS DOUBLE))

-- wide + wide
("wide" + "wide")

-- f + f
NULLIF(("f" + "f"), CAST('nan' AS DOUBLE))

-- add_days(d, few)
CASE WHEN (("few" < CAST((-3652059) AS BIGINT)) OR ("few" > CAST(3652059 AS BIGINT))) THEN CAST(NULL AS DATE) WHEN (((CAST(("d" - CAST('0001-01-01' AS DATE)) AS BIGINT) + "few") < CAST(0 AS BIGINT)) OR ((CAST(("d" - CAST('0001-01-01' AS DATE)) AS BIGINT) + "few") > CAST(3652058 AS BIGINT))) THEN CAST(NULL AS DATE) ELSE ("d" + CAST("few" AS INTEGER)) END

-- add_days(m, i)
CASE WHEN (("i" < CAST((-3652059) AS BIGINT)) OR ("i" > CAST(3652059 AS BIGINT))) THEN CAST(NULL AS DATE) WHEN (((CAST((CAST("m" AS DATE) - CAST('0001-01-01' AS DATE)) AS BIGINT) + "i") < CAST(0 AS BIGINT)) OR ((CAST((CAST("m" AS DATE) - CAST('0001-01-01' AS DATE)) AS BIGINT) + "i") > CAST(3652058 AS BIGINT))) THEN CAST(NULL AS DATE) ELSE (CAST("m" AS DATE) + CAST("i" AS INTEGER)) END

-- add_minutes(d, few)
CASE WHEN (("few" < CAST((-5258964960) AS BIGINT)) OR ("few" > CAST(5258964960 AS BIGINT))) THEN CAST(NULL AS TIMESTAMP) WHEN ((((CAST(("d" - CAST('0001-01-01' AS DATE)) AS BIGINT) * CAST(1440 AS BIGINT)) + "few") < CAST(0 AS BIGINT)) OR (((CAST(("d" - CAST('0001-01-01' AS DATE)) AS BIGINT) * CAST(1440 AS BIGINT)) + "few") > CAST(5258964959 AS BIGINT))) THEN CAST(NULL AS TIMESTAMP) ELSE (CAST("d" AS TIMESTAMP) + TO_MINUTES("few")) END

-- add_minutes(m, i)
CASE WHEN (("i" < CAST((-5258964960) AS BIGINT)) OR ("i" > CAST(5258964960 AS BIGINT))) THEN CAST(NULL AS TIMESTAMP) WHEN (((((CAST((CAST("m" AS DATE) - CAST('0001-01-01' AS DATE)) AS BIGINT) * CAST(1440 AS BIGINT)) + "i") + ((CAST(HOUR("m") AS BIGINT) * CAST(60 AS BIGINT)) + CAST(MINUTE("m") AS BIGINT))) < CAST(0 AS BIGINT)) OR ((((CAST((CAST("m" AS DATE) - CAST('0001-01-01' AS DATE)) AS BIGINT) * CAST(1440 AS BIGINT)) + "i") + ((CAST(HOUR("m") AS BIGINT) * CAST(60 AS BIGINT)) + CAST(MINUTE("m") AS BIGINT))) > CAST(5258964959 AS BIGINT))) THEN CAST(NULL AS TIMESTAMP) ELSE ("m" + TO_MINUTES("i")) END

-- b and b
("b" AND "b")

-- bin(few, 10)
CAST(CASE WHEN (("few" % CAST(10 AS BIGINT)) < 0) THEN (("few" - ("few" % CAST(10 AS BIGINT))) - CAST(10 AS BIGINT)) ELSE ("few" - ("few" % CAST(10 AS BIGINT))) END AS BIGINT)

-- bin(sure, 10)
CAST(("sure" - ("sure" % CAST(10 AS BIGINT))) AS BIGINT)

-- bin(many, 10)
CAST(CASE WHEN (("many" % CAST(10 AS BIGINT)) < 0) THEN (("many" - ("many" % CAST(10 AS BIGINT))) - CAST(10 AS BIGINT)) ELSE ("many" - ("many" % CAST(10 AS BIGINT))) END AS DOUBLE)

-- bin(more, 10)
CAST(CASE WHEN ((CAST("more" AS HUGEINT) % CAST(CAST(10 AS BIGINT) AS HUGEINT)) < 0) THEN ((CAST("more" AS HUGEINT) - (CAST("more" AS HUGEINT) % CAST(CAST(10 AS BIGINT) AS HUGEINT))) - CAST(CAST(10 AS BIGINT) AS HUGEINT)) ELSE (CAST("more" AS HUGEINT) - (CAST("more" AS HUGEINT) % CAST(CAST(10 AS BIGINT) AS HUGEINT))) END AS DOUBLE)

-- bin(f, 0.25)
NULLIF((FLOOR(NULLIF(("f" / CAST('0.25' AS DOUBLE)), CAST('nan' AS DOUBLE))) * CAST('0.25' AS DOUBLE)), CAST('nan' AS DOUBLE))

-- bin(few, 0.25)
(FLOOR((CAST("few" AS DOUBLE) / CAST('0.25' AS DOUBLE))) * CAST('0.25' AS DOUBLE))

-- bin(tall, 10)
CAST((CAST("tall" AS HUGEINT) - (CAST("tall" AS HUGEINT) % CAST(CAST(10 AS BIGINT) AS HUGEINT))) AS BIGINT)

-- case(b, i, f)
CASE WHEN "b" THEN CAST("i" AS DOUBLE) ELSE "f" END

-- case(b, few, b, sure, i)
CASE WHEN "b" THEN "few" WHEN "b" THEN "sure" ELSE "i" END

-- ceil(f)
CEIL("f")

-- ceil(few)
"few"

-- ceil(share)
CAST(CEIL("share") AS BIGINT)

-- clip(few, 0, 5)
CASE WHEN (NOT ("few" IS NULL)) THEN LEAST(GREATEST("few", CAST(0 AS BIGINT)), CAST(5 AS BIGINT)) ELSE NULL END

-- clip(f, 0, 5)
CASE WHEN (NOT ("f" IS NULL)) THEN LEAST(GREATEST("f", CAST(CAST(0 AS BIGINT) AS DOUBLE)), CAST(CAST(5 AS BIGINT) AS DOUBLE)) ELSE NULL END

-- clip(few, 0.5, 2.5)
CASE WHEN (NOT (CAST("few" AS DOUBLE) IS NULL)) THEN LEAST(GREATEST(CAST("few" AS DOUBLE), CAST('0.5' AS DOUBLE)), CAST('2.5' AS DOUBLE)) ELSE NULL END

-- clip(sure, 0, 5)
LEAST(GREATEST("sure", CAST(0 AS BIGINT)), CAST(5 AS BIGINT))

-- coalesce(i, f)
COALESCE(CAST("i" AS DOUBLE), "f")

-- coalesce(t, 'x')
COALESCE("t", 'x')

-- coalesce(i, few, sure)
COALESCE("i", "few", "sure")

-- concat(t, t)
SUBSTR((SUBSTR("t", 1, 1024) || SUBSTR("t", 1, 1024)), 1, 1024)

-- contains(t, t)
CONTAINS("t", "t")

-- date_trunc('quarter', d)
CAST(DATE_TRUNC('quarter', "d") AS DATE)

-- date_trunc('hour', m)
CAST(DATE_TRUNC('hour', "m") AS TIMESTAMP)

-- day(d)
CAST(DAY("d") AS BIGINT)

-- day(m)
CAST(DAY("m") AS BIGINT)

-- days_between(d, m)
CAST((CAST("m" AS DATE) - "d") AS BIGINT)

-- days_between(m, d)
CAST(("d" - CAST("m" AS DATE)) AS BIGINT)

-- few / sure
(CAST("few" AS DOUBLE) / NULLIF(CAST("sure" AS DOUBLE), CAST('0.0' AS DOUBLE)))

-- f / 3.0
NULLIF(("f" / CAST('3.0' AS DOUBLE)), CAST('nan' AS DOUBLE))

-- share / f
NULLIF(("share" / NULLIF("f", CAST('0.0' AS DOUBLE))), CAST('nan' AS DOUBLE))

-- far / tiny
("far" / "tiny")

-- tiny / far
("tiny" / "far")

-- i / few
NULLIF((CAST("i" AS DOUBLE) / NULLIF(CAST("few" AS DOUBLE), CAST('0.0' AS DOUBLE))), CAST('nan' AS DOUBLE))

-- f / 0.5
NULLIF(("f" / CAST('0.5' AS DOUBLE)), CAST('nan' AS DOUBLE))

-- dow(d)
CAST(DAYOFWEEK("d") AS BIGINT)

-- dow(m)
CAST(DAYOFWEEK("m") AS BIGINT)

-- doy(d)
CAST(DAYOFYEAR("d") AS BIGINT)

-- doy(m)
CAST(DAYOFYEAR("m") AS BIGINT)

-- ends_with(t, t)
ENDS_WITH("t", "t")

-- i = f
(CAST("i" AS DOUBLE) = "f")

-- t = t
("t" = "t")

-- d = d
("d" = "d")

-- exp(f)
EXP("f")

-- exp(share)
EXP("share")

-- exp(deep)
EXP("deep")

-- exp(high)
EXP("high")

-- floor(f)
FLOOR("f")

-- floor(few)
"few"

-- floor(share)
CAST(FLOOR("share") AS BIGINT)

-- i >= f
(CAST("i" AS DOUBLE) >= "f")

-- t >= t
("t" >= "t")

-- d >= d
("d" >= "d")

-- greatest(sure, sure)
GREATEST("sure", "sure")

-- greatest(t, 'x')
CASE WHEN (NOT ("t" IS NULL)) THEN GREATEST("t", 'x') ELSE NULL END

-- greatest(m, m)
CASE WHEN ((NOT ("m" IS NULL)) AND (NOT ("m" IS NULL))) THEN GREATEST("m", "m") ELSE NULL END

-- i > f
(CAST("i" AS DOUBLE) > "f")

-- t > t
("t" > "t")

-- d > d
("d" > "d")

-- hour(m)
CAST(HOUR("m") AS BIGINT)

-- ilike(t, 'A%')
(TRANSLATE("t", 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz') LIKE 'a%')

-- in(few, 1, 2)
("few" IN (CAST(1 AS BIGINT), CAST(2 AS BIGINT)))

-- in(few, 1, 2.5)
(CAST("few" AS DOUBLE) IN (CAST(CAST(1 AS BIGINT) AS DOUBLE), CAST('2.5' AS DOUBLE)))

-- in(t, 'a', t)
CASE WHEN ("t" IS NULL) THEN CAST(NULL AS BOOLEAN) ELSE ("t" IN ('a', "t")) END

-- in(sure, sure, few)
CASE WHEN ("few" IS NULL) THEN CAST(NULL AS BOOLEAN) ELSE ("sure" IN ("sure", "few")) END

-- is_null(b)
("b" IS NULL)

-- is_null(d)
("d" IS NULL)

-- is_null(f)
("f" IS NULL)

-- is_null(i)
("i" IS NULL)

-- is_null(t)
("t" IS NULL)

-- is_null(m)
("m" IS NULL)

-- i <= f
(CAST("i" AS DOUBLE) <= "f")

-- t <= t
("t" <= "t")

-- d <= d
("d" <= "d")

-- least(i, few, sure)
CASE WHEN ((NOT ("i" IS NULL)) AND (NOT ("few" IS NULL))) THEN LEAST(LEAST("i", "few"), "sure") ELSE NULL END

-- least(f, share)
CASE WHEN (NOT ("f" IS NULL)) THEN LEAST("f", "share") ELSE NULL END

-- least(t, t)
CASE WHEN ((NOT ("t" IS NULL)) AND (NOT ("t" IS NULL))) THEN LEAST("t", "t") ELSE NULL END

-- least(d, d)
CASE WHEN ((NOT ("d" IS NULL)) AND (NOT ("d" IS NULL))) THEN LEAST("d", "d") ELSE NULL END

-- length(t)
CAST(LENGTH("t") AS BIGINT)

-- like(t, 'a%')
("t" LIKE 'a%')

-- like(t, '_')
("t" LIKE '_')

-- like(t, 'a')
("t" LIKE 'a')

-- ln(f)
CASE WHEN ("f" > CAST('0.0' AS DOUBLE)) THEN LN("f") ELSE NULL END

-- ln(few)
CASE WHEN (CAST("few" AS DOUBLE) > CAST('0.0' AS DOUBLE)) THEN LN(CAST("few" AS DOUBLE)) ELSE NULL END

-- lower(t)
TRANSLATE("t", 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz')

-- i < f
(CAST("i" AS DOUBLE) < "f")

-- t < t
("t" < "t")

-- d < d
("d" < "d")

-- minute(m)
CAST(MINUTE("m") AS BIGINT)

-- few % sure
CASE WHEN (("few" IS NULL) OR ("sure" = 0)) THEN CAST(NULL AS BIGINT) WHEN ("sure" = (-1)) THEN CAST(0 AS BIGINT) ELSE ("few" % "sure") END

-- month(d)
CAST(MONTH("d") AS BIGINT)

-- month(m)
CAST(MONTH("m") AS BIGINT)

-- few * sure
("few" * "sure")

-- f * f
NULLIF(("f" * "f"), CAST('nan' AS DOUBLE))

-- wide * 2.0
("wide" * CAST('2.0' AS DOUBLE))

-- tiny * tiny
("tiny" * "tiny")

-- 3.0 * wide
(CAST('3.0' AS DOUBLE) * "wide")

-- share * far
("share" * "far")

-- f * 3.0
NULLIF(("f" * CAST('3.0' AS DOUBLE)), CAST('nan' AS DOUBLE))

-- i <> f
(CAST("i" AS DOUBLE) <> "f")

-- t <> t
("t" <> "t")

-- d <> d
("d" <> "d")

-- negate(i)
(-CAST("i" AS DOUBLE))

-- negate(few)
(-"few")

-- negate(f)
(-"f")

-- not(b)
(NOT "b")

-- nullif(i, f)
CASE WHEN (CAST("i" AS DOUBLE) = "f") THEN CAST(NULL AS BIGINT) ELSE "i" END

-- nullif(t, 'x')
CASE WHEN ("t" = 'x') THEN CAST(NULL AS VARCHAR) ELSE "t" END

-- b or b
("b" OR "b")

-- power(f, f)
CASE WHEN (("f" IS NULL) OR ("f" IS NULL)) THEN CAST(NULL AS DOUBLE) WHEN (("f" = CAST('0.0' AS DOUBLE)) AND ("f" < CAST('0.0' AS DOUBLE))) THEN CAST(NULL AS DOUBLE) WHEN (("f" < CAST('0.0' AS DOUBLE)) AND (("f" <> FLOOR("f")) OR (ABS("f") = CAST('Infinity' AS DOUBLE)))) THEN CAST(NULL AS DOUBLE) ELSE NULLIF(POWER("f", "f"), CAST('nan' AS DOUBLE)) END

-- power(share, 2)
CASE WHEN (("share" IS NULL) OR (CAST(CAST(2 AS BIGINT) AS DOUBLE) IS NULL)) THEN CAST(NULL AS DOUBLE) WHEN (("share" = CAST('0.0' AS DOUBLE)) AND (CAST(CAST(2 AS BIGINT) AS DOUBLE) < CAST('0.0' AS DOUBLE))) THEN CAST(NULL AS DOUBLE) WHEN (("share" < CAST('0.0' AS DOUBLE)) AND ((CAST(CAST(2 AS BIGINT) AS DOUBLE) <> FLOOR(CAST(CAST(2 AS BIGINT) AS DOUBLE))) OR (ABS(CAST(CAST(2 AS BIGINT) AS DOUBLE)) = CAST('Infinity' AS DOUBLE)))) THEN CAST(NULL AS DOUBLE) ELSE POWER("share", CAST(CAST(2 AS BIGINT) AS DOUBLE)) END

-- power(far, share)
CASE WHEN (("far" IS NULL) OR ("share" IS NULL)) THEN CAST(NULL AS DOUBLE) WHEN (("far" = CAST('0.0' AS DOUBLE)) AND ("share" < CAST('0.0' AS DOUBLE))) THEN CAST(NULL AS DOUBLE) WHEN (("far" < CAST('0.0' AS DOUBLE)) AND (("share" <> FLOOR("share")) OR (ABS("share") = CAST('Infinity' AS DOUBLE)))) THEN CAST(NULL AS DOUBLE) ELSE POWER("far", "share") END

-- power(tiny, sure)
CASE WHEN (("tiny" IS NULL) OR (CAST("sure" AS DOUBLE) IS NULL)) THEN CAST(NULL AS DOUBLE) WHEN (("tiny" = CAST('0.0' AS DOUBLE)) AND (CAST("sure" AS DOUBLE) < CAST('0.0' AS DOUBLE))) THEN CAST(NULL AS DOUBLE) WHEN (("tiny" < CAST('0.0' AS DOUBLE)) AND ((CAST("sure" AS DOUBLE) <> FLOOR(CAST("sure" AS DOUBLE))) OR (ABS(CAST("sure" AS DOUBLE)) = CAST('Infinity' AS DOUBLE)))) THEN CAST(NULL AS DOUBLE) ELSE POWER("tiny", CAST("sure" AS DOUBLE)) END

-- power(far, high)
CASE WHEN (("far" IS NULL) OR ("high" IS NULL)) THEN CAST(NULL AS DOUBLE) WHEN (("far" = CAST('0.0' AS DOUBLE)) AND ("high" < CAST('0.0' AS DOUBLE))) THEN CAST(NULL AS DOUBLE) WHEN (("far" < CAST('0.0' AS DOUBLE)) AND (("high" <> FLOOR("high")) OR (ABS("high") = CAST('Infinity' AS DOUBLE)))) THEN CAST(NULL AS DOUBLE) ELSE POWER("far", "high") END

-- power(tiny, mild)
CASE WHEN (("tiny" IS NULL) OR ("mild" IS NULL)) THEN CAST(NULL AS DOUBLE) WHEN (("tiny" = CAST('0.0' AS DOUBLE)) AND ("mild" < CAST('0.0' AS DOUBLE))) THEN CAST(NULL AS DOUBLE) WHEN (("tiny" < CAST('0.0' AS DOUBLE)) AND (("mild" <> FLOOR("mild")) OR (ABS("mild") = CAST('Infinity' AS DOUBLE)))) THEN CAST(NULL AS DOUBLE) ELSE POWER("tiny", "mild") END

-- quarter(d)
CAST(QUARTER("d") AS BIGINT)

-- quarter(m)
CAST(QUARTER("m") AS BIGINT)

-- round(f)
CASE WHEN (ABS("f") > CAST('8.452712498170644e+270' AS DOUBLE)) THEN "f" ELSE CASE WHEN ("f" < CAST('0.0' AS DOUBLE)) THEN (-(FLOOR(((ABS("f") * CAST('1.0' AS DOUBLE)) + CAST('0.5' AS DOUBLE))) / CAST('1.0' AS DOUBLE))) ELSE (FLOOR(((ABS("f") * CAST('1.0' AS DOUBLE)) + CAST('0.5' AS DOUBLE))) / CAST('1.0' AS DOUBLE)) END END

-- round(f, 2)
CASE WHEN (ABS("f") > CAST('8.452712498170644e+270' AS DOUBLE)) THEN "f" ELSE CASE WHEN ("f" < CAST('0.0' AS DOUBLE)) THEN (-(FLOOR(((ABS("f") * CAST('100.0' AS DOUBLE)) + CAST('0.5' AS DOUBLE))) / CAST('100.0' AS DOUBLE))) ELSE (FLOOR(((ABS("f") * CAST('100.0' AS DOUBLE)) + CAST('0.5' AS DOUBLE))) / CAST('100.0' AS DOUBLE)) END END

-- round(f, -1)
CASE WHEN (ABS("f") > CAST('8.452712498170644e+270' AS DOUBLE)) THEN "f" ELSE CASE WHEN ("f" < CAST('0.0' AS DOUBLE)) THEN (-(FLOOR(((ABS("f") / CAST('10.0' AS DOUBLE)) + CAST('0.5' AS DOUBLE))) * CAST('10.0' AS DOUBLE))) ELSE (FLOOR(((ABS("f") / CAST('10.0' AS DOUBLE)) + CAST('0.5' AS DOUBLE))) * CAST('10.0' AS DOUBLE)) END END

-- round(few)
"few"

-- round(few, -1)
CAST(CASE WHEN (CAST("few" AS DOUBLE) < CAST('0.0' AS DOUBLE)) THEN (-(FLOOR(((ABS(CAST("few" AS DOUBLE)) / CAST('10.0' AS DOUBLE)) + CAST('0.5' AS DOUBLE))) * CAST('10.0' AS DOUBLE))) ELSE (FLOOR(((ABS(CAST("few" AS DOUBLE)) / CAST('10.0' AS DOUBLE)) + CAST('0.5' AS DOUBLE))) * CAST('10.0' AS DOUBLE)) END AS BIGINT)

-- round(share, 1)
CASE WHEN ("share" < CAST('0.0' AS DOUBLE)) THEN (-(FLOOR(((ABS("share") * CAST('10.0' AS DOUBLE)) + CAST('0.5' AS DOUBLE))) / CAST('10.0' AS DOUBLE))) ELSE (FLOOR(((ABS("share") * CAST('10.0' AS DOUBLE)) + CAST('0.5' AS DOUBLE))) / CAST('10.0' AS DOUBLE)) END

-- round(wide, 15)
CASE WHEN (ABS("wide") > CAST('8.452712498170644e+270' AS DOUBLE)) THEN "wide" ELSE CASE WHEN ("wide" < CAST('0.0' AS DOUBLE)) THEN (-(FLOOR(((ABS("wide") * CAST('1000000000000000.0' AS DOUBLE)) + CAST('0.5' AS DOUBLE))) / CAST('1000000000000000.0' AS DOUBLE))) ELSE (FLOOR(((ABS("wide") * CAST('1000000000000000.0' AS DOUBLE)) + CAST('0.5' AS DOUBLE))) / CAST('1000000000000000.0' AS DOUBLE)) END END

-- round(edge)
CASE WHEN ("edge" < CAST('0.0' AS DOUBLE)) THEN (-(FLOOR(((ABS("edge") * CAST('1.0' AS DOUBLE)) + CAST('0.5' AS DOUBLE))) / CAST('1.0' AS DOUBLE))) ELSE (FLOOR(((ABS("edge") * CAST('1.0' AS DOUBLE)) + CAST('0.5' AS DOUBLE))) / CAST('1.0' AS DOUBLE)) END

-- sign(i)
CASE WHEN ("i" > CAST(0 AS BIGINT)) THEN CAST(1 AS BIGINT) WHEN ("i" < CAST(0 AS BIGINT)) THEN CAST((-1) AS BIGINT) WHEN (NOT ("i" IS NULL)) THEN CAST(0 AS BIGINT) ELSE NULL END

-- sign(few)
CASE WHEN ("few" > CAST(0 AS BIGINT)) THEN CAST(1 AS BIGINT) WHEN ("few" < CAST(0 AS BIGINT)) THEN CAST((-1) AS BIGINT) WHEN (NOT ("few" IS NULL)) THEN CAST(0 AS BIGINT) ELSE NULL END

-- sign(f)
CASE WHEN ("f" > CAST('0.0' AS DOUBLE)) THEN CAST(1 AS BIGINT) WHEN ("f" < CAST('0.0' AS DOUBLE)) THEN CAST((-1) AS BIGINT) WHEN (NOT ("f" IS NULL)) THEN CAST(0 AS BIGINT) ELSE NULL END

-- sqrt(f)
CASE WHEN ("f" >= CAST('0.0' AS DOUBLE)) THEN SQRT("f") ELSE NULL END

-- sqrt(few)
CASE WHEN (CAST("few" AS DOUBLE) >= CAST('0.0' AS DOUBLE)) THEN SQRT(CAST("few" AS DOUBLE)) ELSE NULL END

-- starts_with(t, t)
STARTS_WITH("t", "t")

-- substr(t, 2)
SUBSTR("t", 2)

-- substr(t, 1, 2)
SUBSTR("t", 1, 2)

-- few - sure
("few" - "sure")

-- f - share
NULLIF(("f" - "share"), CAST('nan' AS DOUBLE))

-- wide - wide
("wide" - "wide")

-- f - f
NULLIF(("f" - "f"), CAST('nan' AS DOUBLE))

-- to_bool(b)
"b"

-- to_bool(i)
("i" <> CAST(0 AS BIGINT))

-- to_bool(t)
CASE WHEN (TRANSLATE(TRIM("t", ' '), 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz') IN ('true', 't', '1')) THEN TRUE WHEN (TRANSLATE(TRIM("t", ' '), 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz') IN ('false', 'f', '0')) THEN FALSE ELSE NULL END

-- to_date(d)
"d"

-- to_date(t)
CASE WHEN REGEXP_FULL_MATCH("t", ' *[0-9]{4}-[0-9]{2}-[0-9]{2} *') THEN CASE WHEN (NOT STARTS_WITH(TRIM("t", ' '), '0000')) THEN TRY_CAST(TRIM("t", ' ') AS DATE) ELSE NULL END ELSE NULL END

-- to_date(m)
CAST("m" AS DATE)

-- to_float(b)
CASE WHEN "b" THEN CAST('1.0' AS DOUBLE) WHEN (NOT "b") THEN CAST('0.0' AS DOUBLE) ELSE NULL END

-- to_float(f)
"f"

-- to_float(i)
CAST("i" AS DOUBLE)

-- to_float(t)
CASE WHEN REGEXP_FULL_MATCH("t", ' *[+-]?([0-9]{1,30}(\.[0-9]{0,30})?|\.[0-9]{1,30})([eE][+-]?[0-9]{1,2})? *') THEN TRY_CAST(TRIM("t", ' ') AS DOUBLE) ELSE NULL END

-- to_int(b)
CASE WHEN "b" THEN CAST(1 AS BIGINT) WHEN (NOT "b") THEN CAST(0 AS BIGINT) ELSE NULL END

-- to_int(f)
CASE WHEN (("f" >= CAST('-9.223372036854776e+18' AS DOUBLE)) AND ("f" < CAST('9.223372036854776e+18' AS DOUBLE))) THEN CAST(CASE WHEN ("f" < CAST('0.0' AS DOUBLE)) THEN (-FLOOR((ABS("f") + CAST('0.5' AS DOUBLE)))) ELSE FLOOR((ABS("f") + CAST('0.5' AS DOUBLE))) END AS BIGINT) ELSE NULL END

-- to_int(i)
"i"

-- to_int(t)
CASE WHEN REGEXP_FULL_MATCH("t", ' *[+-]?[0-9]{1,18} *') THEN TRY_CAST(TRIM("t", ' ') AS BIGINT) WHEN REGEXP_FULL_MATCH("t", ' *[+-]?[0-9]{1,18}\.0{0,18} *') THEN TRY_CAST(REGEXP_REPLACE(TRIM("t", ' '), '[.]0*$', '') AS BIGINT) ELSE NULL END

-- to_text(b)
CASE WHEN "b" THEN 'true' WHEN (NOT "b") THEN 'false' ELSE NULL END

-- to_text(d)
CAST("d" AS VARCHAR)

-- to_text(i)
CAST("i" AS VARCHAR)

-- to_text(t)
"t"

-- to_timestamp(d)
CAST("d" AS TIMESTAMP)

-- to_timestamp(t)
CASE WHEN REGEXP_FULL_MATCH("t", ' *[0-9]{4}-[0-9]{2}-[0-9]{2}[ T]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,6})?)? *| *[0-9]{4}-[0-9]{2}-[0-9]{2} *') THEN CASE WHEN REGEXP_FULL_MATCH(REPLACE("t", 'T', ' '), ' *[0-9]{4}-[0-9]{2}-[0-9]{2}[ T]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,6})?)? *| *[0-9]{4}-[0-9]{2}-[0-9]{2} *') THEN CASE WHEN (NOT STARTS_WITH(TRIM(REPLACE("t", 'T', ' '), ' '), '0000')) THEN TRY_CAST(TRIM(REPLACE("t", 'T', ' '), ' ') AS TIMESTAMP) ELSE NULL END ELSE NULL END ELSE NULL END

-- to_timestamp(m)
"m"

-- trim(t)
TRIM("t", ' ')

-- upper(t)
TRANSLATE("t", 'abcdefghijklmnopqrstuvwxyz', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ')

-- width_bucket(f, 0, 10, 4)
CASE WHEN ("f" < CAST(CAST(0 AS BIGINT) AS DOUBLE)) THEN CAST(0 AS BIGINT) WHEN ("f" >= CAST(CAST(10 AS BIGINT) AS DOUBLE)) THEN CAST(5 AS BIGINT) WHEN (NOT ("f" IS NULL)) THEN CAST(LEAST((FLOOR(((("f" - CAST(CAST(0 AS BIGINT) AS DOUBLE)) / CAST('10.0' AS DOUBLE)) * CAST(CAST(4 AS BIGINT) AS DOUBLE))) + CAST('1.0' AS DOUBLE)), CAST(CAST(4 AS BIGINT) AS DOUBLE)) AS BIGINT) ELSE NULL END

-- width_bucket(few, -1.0, 2.5, 7)
CASE WHEN (CAST("few" AS DOUBLE) < CAST('-1.0' AS DOUBLE)) THEN CAST(0 AS BIGINT) WHEN (CAST("few" AS DOUBLE) >= CAST('2.5' AS DOUBLE)) THEN CAST(8 AS BIGINT) WHEN (NOT (CAST("few" AS DOUBLE) IS NULL)) THEN CAST(LEAST((FLOOR((((CAST("few" AS DOUBLE) - CAST('-1.0' AS DOUBLE)) / CAST('3.5' AS DOUBLE)) * CAST(CAST(7 AS BIGINT) AS DOUBLE))) + CAST('1.0' AS DOUBLE)), CAST(CAST(7 AS BIGINT) AS DOUBLE)) AS BIGINT) ELSE NULL END

-- year(d)
CAST(YEAR("d") AS BIGINT)

-- year(m)
CAST(YEAR("m") AS BIGINT)

