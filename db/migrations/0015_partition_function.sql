-- Makes a table partitioned by ranges of a column with ids. The table with all its rows becomes the only partition, for all
-- ids, so nothing is read, built or moved: the catalog changes within milliseconds. Its indexes get the name of the partition,
-- and the partitioned table gets the names. The primary key keeps its name, because release 0.2.0 recognizes a repeated insert
-- by it. Foreign keys to the table must have been dropped before.
CREATE FUNCTION "partition_table"("name" text, "key" text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  "part" text := "name" || '_first';
  "part_of" regclass := "name"::regclass;
  "triggers" record;
  "indexes" record;
  "constraints" record;
  "grants" record;
  "primary_key" text;
  "definitions" text[] := '{}';
  "definition" text;
BEGIN
  EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', "name");
  FOR "triggers" IN SELECT "tgname", pg_get_triggerdef("oid") AS "definition" FROM pg_trigger WHERE "tgrelid" = "part_of" AND NOT "tgisinternal" LOOP
    "definitions" := "definitions" || "triggers"."definition";
    EXECUTE format('DROP TRIGGER %I ON %I', "triggers"."tgname", "name");
  END LOOP;
  FOR "indexes" IN
    SELECT "c"."relname", pg_get_indexdef("i"."indexrelid") AS "definition", "i"."indisprimary"
    FROM pg_index "i" JOIN pg_class "c" ON "c"."oid" = "i"."indexrelid" WHERE "i"."indrelid" = "part_of" AND "i"."indisvalid"
  LOOP
    IF NOT "indexes"."indisprimary" THEN
      "definitions" := "definitions" || "indexes"."definition";
      EXECUTE format('ALTER INDEX %I RENAME TO %I', "indexes"."relname",
        CASE WHEN starts_with("indexes"."relname", "name" || '_') THEN "part" || substr("indexes"."relname", length("name") + 1)
             ELSE "indexes"."relname" || '_first' END);
    END IF;
  END LOOP;
  SELECT pg_get_constraintdef("oid") INTO STRICT "primary_key" FROM pg_constraint WHERE "conrelid" = "part_of" AND "contype" = 'p';
  EXECUTE format('ALTER TABLE %I RENAME TO %I', "name", "part");
  EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL EXCLUDING INDEXES) PARTITION BY RANGE (%I)', "name", "part", "key");
  EXECUTE format('ALTER TABLE %I ADD CONSTRAINT %I %s', "name", "name" || '_pkey', "primary_key");
  FOREACH "definition" IN ARRAY "definitions" LOOP
    EXECUTE "definition";
  END LOOP;
  FOR "constraints" IN SELECT "conname", pg_get_constraintdef("oid") AS "definition" FROM pg_constraint WHERE "conrelid" = "part_of" AND "contype" = 'f' LOOP
    EXECUTE format('ALTER TABLE %I ADD CONSTRAINT %I %s', "name", "constraints"."conname", "constraints"."definition");
  END LOOP;
  FOR "grants" IN
    SELECT "a"."privilege_type", "a"."is_grantable", CASE "a"."grantee" WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid("a"."grantee")) END AS "role"
    FROM pg_class "c" CROSS JOIN LATERAL aclexplode("c"."relacl") AS "a" WHERE "c"."oid" = "part_of" AND "a"."grantee" <> "c"."relowner"
  LOOP
    EXECUTE format('GRANT %s ON %I TO %s%s', "grants"."privilege_type", "name", "grants"."role", CASE WHEN "grants"."is_grantable" THEN ' WITH GRANT OPTION' ELSE '' END);
  END LOOP;
  EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (MINVALUE) TO (MAXVALUE)', "name", "part");
END $$;
--> statement-breakpoint
-- PostgreSQL 18 crashes when a statement that waited for a row prunes partitions. For connections through a pooler, and for release
-- 0.2.0. Readiness reports if the role may not change its defaults.
DO $$
BEGIN
  EXECUTE format('ALTER ROLE CURRENT_USER IN DATABASE %I SET enable_partition_pruning = off', current_database());
EXCEPTION WHEN insufficient_privilege THEN NULL;
END $$;
--> statement-breakpoint
-- Release 0.2.0 still runs on this schema: names, columns and keys are the same.
CREATE OR REPLACE FUNCTION "oldest_release"() RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT '0.2.0' $$;
