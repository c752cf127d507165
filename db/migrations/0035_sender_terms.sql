-- As before, with the sender in lower case: addresses are compared in any letter case.
CREATE OR REPLACE FUNCTION "search_terms"("team" uuid, "email" uuid, "subject" text, "recipients" jsonb, "sender" text, "domain" text, "key" uuid, "tags" jsonb)
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
      SELECT unnest(ARRAY['f:' || lower("sender"), 'e:' || "domain", 'k:' || "key"::text, '25:' || ("i"."ms" >> 25), '20:' || ("i"."ms" >> 20), '15:' || ("i"."ms" >> 15)])
      UNION ALL
      SELECT 'd:' || lower(substring("a"."address" from '@([^@>]+)>?$')) FROM jsonb_array_elements_text("recipients") AS "a"("address")
      UNION ALL
      SELECT unnest(ARRAY['t:' || ("t"."tag" ->> 'name'), 't:' || ("t"."tag" ->> 'name') || '=' || ("t"."tag" ->> 'value')])
      FROM jsonb_array_elements("tags") AS "t"("tag")
    ) AS "n"
  WHERE "n"."name" IS NOT NULL
$$;
--> statement-breakpoint
-- Housekeeping compares the terms of older emails, and writes those that differ.
INSERT INTO "email_terms_backlog" ("team_id", "next_id") SELECT "id", 'ffffffff-ffff-ffff-ffff-ffffffffffff' FROM "teams"
ON CONFLICT ("team_id") DO UPDATE SET "next_id" = excluded."next_id";
