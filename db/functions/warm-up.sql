-- What a domain's warm-up allows on a day: null before its start, and from the day on that would allow the target.
CREATE OR REPLACE FUNCTION "warm_up_allows"("starts" date, "first" integer, "growth" integer, "target" integer, "on_day" date)
RETURNS integer LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN "on_day" >= "starts" AND ("n" < "target" OR "target" IS NULL) THEN "n" END
  FROM (
    SELECT round(exp(least(20, ln("first"::float8) + ("on_day" - "starts") * ln(1 + "growth" / 100.0::float8))))::int AS "n"
  ) AS "w"
$$;
