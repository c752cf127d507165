CREATE TABLE "email_terms" (
	"team_id" uuid NOT NULL,
	"email_id" uuid NOT NULL,
	"terms" bigint[] NOT NULL,
	CONSTRAINT "email_terms_team_id_email_id_pk" PRIMARY KEY("team_id","email_id")
);
--> statement-breakpoint
CREATE TABLE "email_terms_pending" (
	"team_id" uuid NOT NULL,
	"email_id" uuid NOT NULL,
	CONSTRAINT "email_terms_pending_team_id_email_id_pk" PRIMARY KEY("team_id","email_id")
);
--> statement-breakpoint
CREATE TABLE "email_terms_backlog" (
	"team_id" uuid PRIMARY KEY NOT NULL,
	"next_id" uuid NOT NULL
);
--> statement-breakpoint
ALTER TABLE "email_terms_backlog" ADD CONSTRAINT "email_terms_backlog_team_id_teams_id_fk" FOREIGN KEY ("team_id") REFERENCES "public"."teams"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "email_terms_idx" ON "email_terms" USING gin ("terms") WITH (gin_pending_list_limit=1024);--> statement-breakpoint
-- Words in lower case, of a subject, a list of recipients, or what a user searches for. The characters that the parser would take
-- for parts of numbers, hosts, paths, addresses or markup separate words.
CREATE FUNCTION "search_words"("value" text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT tsvector_to_array(to_tsvector('pg_catalog.simple'::regconfig, translate("value", '-._@/+:&<', '         ')))
$$;
--> statement-breakpoint
-- The upper half of a term: team and period of 2^30 ms. So the terms of a period are stored together, a search reads only those
-- of its team, and an accepted email changes few pages of a large index.
CREATE FUNCTION "search_scope"("team" uuid, "period" bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT hashtextextended("team"::text, "period") & -4294967296
$$;
--> statement-breakpoint
-- Different names can have the same term, so a search compares what it finds with the emails.
CREATE FUNCTION "search_term"("scope" bigint, "name" text) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT "scope" | (hashtext("name")::bigint & 4294967295)
$$;
--> statement-breakpoint
-- The terms of an email, as a table of one row, so that PostgreSQL can make the function a part of the statement. Its shorter
-- periods are terms too: with them, a search reads the entries of one period only.
CREATE FUNCTION "search_terms"("team" uuid, "email" uuid, "subject" text, "recipients" jsonb, "sender" text, "domain" text, "key" uuid, "tags" jsonb)
RETURNS TABLE ("terms" bigint[]) LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce(array_agg(search_term("s"."scope", "n"."name")), '{}')
  FROM (SELECT ('x' || left(replace("email"::text, '-', ''), 12))::bit(48)::bigint AS "ms" OFFSET 0) AS "i"
    CROSS JOIN LATERAL (SELECT search_scope("team", "i"."ms" >> 30) AS "scope" OFFSET 0) AS "s"
    CROSS JOIN LATERAL (
      SELECT unnest(ARRAY[
        CASE WHEN length("w"."word") >= 3 THEN left("w"."word", 3) END,
        CASE WHEN length("w"."word") >= 4 THEN left("w"."word", 4) END,
        CASE WHEN length("w"."word") >= 7 THEN left("w"."word", 7) END,
        CASE WHEN length("w"."word") >= 11 THEN left("w"."word", 11) END
      ]) AS "name" FROM unnest(search_words(concat("subject", ' ', "recipients"))) AS "w"("word")
      UNION ALL
      SELECT unnest(ARRAY['f:' || "sender", 'e:' || "domain", 'k:' || "key"::text, '25:' || ("i"."ms" >> 25), '20:' || ("i"."ms" >> 20), '15:' || ("i"."ms" >> 15)])
      UNION ALL
      SELECT 'd:' || lower(substring("a"."address" from '@([^@>]+)>?$')) FROM jsonb_array_elements_text("recipients") AS "a"("address")
      UNION ALL
      SELECT unnest(ARRAY['t:' || ("t"."tag" ->> 'name'), 't:' || ("t"."tag" ->> 'name') || '=' || ("t"."tag" ->> 'value')])
      FROM jsonb_array_elements("tags") AS "t"("tag")
    ) AS "n"
  WHERE "n"."name" IS NOT NULL
$$;
--> statement-breakpoint
-- Only a note of each email, because its terms cost more than accepting it. For release 0.2.0, too.
CREATE FUNCTION "note_new_emails"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "email_terms_pending" ("team_id", "email_id") SELECT "team_id", "id" FROM "new_emails" ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER "emails_accepted" AFTER INSERT ON "emails"
  REFERENCING NEW TABLE AS "new_emails" FOR EACH STATEMENT EXECUTE FUNCTION "note_new_emails"();
--> statement-breakpoint
-- The former terms are removed at once, because they can be what a person wants erased. Changes of the status, which are many,
-- do not run it.
CREATE FUNCTION "note_changed_email"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM "email_terms" WHERE "team_id" = NEW."team_id" AND "email_id" = NEW."id";
  -- An update of a note that stands locks it, so that no worker takes it before the changed text is committed.
  INSERT INTO "email_terms_pending" ("team_id", "email_id") VALUES (NEW."team_id", NEW."id")
  ON CONFLICT ("team_id", "email_id") DO UPDATE SET "email_id" = excluded."email_id";
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER "emails_changed" AFTER UPDATE OF "subject", "to", "cc", "bcc", "sender_address", "sender_domain", "api_key_id", "tags" ON "emails"
  FOR EACH ROW EXECUTE FUNCTION "note_changed_email"();
--> statement-breakpoint
CREATE OR REPLACE FUNCTION "delete_with_emails"() RETURNS trigger LANGUAGE plpgsql SET plan_cache_mode = force_custom_plan AS $$
DECLARE
  "team" uuid;
  "ids" uuid[];
BEGIN
  FOR "team", "ids" IN SELECT "team_id", array_agg("id") FROM "old_emails" GROUP BY "team_id" LOOP
    DELETE FROM "deliveries" WHERE "team_id" = "team" AND "email_id" = ANY ("ids");
    DELETE FROM "email_events" WHERE "team_id" = "team" AND "email_id" = ANY ("ids");
    DELETE FROM "email_bodies" WHERE "team_id" = "team" AND "email_id" = ANY ("ids");
    DELETE FROM "attachments" WHERE "team_id" = "team" AND "email_id" = ANY ("ids");
    DELETE FROM "captured_messages" WHERE "team_id" = "team" AND "email_id" = ANY ("ids");
    DELETE FROM "email_terms" WHERE "team_id" = "team" AND "email_id" = ANY ("ids");
    DELETE FROM "email_terms_pending" WHERE "team_id" = "team" AND "email_id" = ANY ("ids");
  END LOOP;
  RETURN NULL;
END $$;
--> statement-breakpoint
-- All later emails are noted. Housekeeping writes the terms of the older ones, too.
INSERT INTO "email_terms_backlog" ("team_id", "next_id") SELECT "id", 'ffffffff-ffff-ffff-ffff-ffffffffffff' FROM "teams";
