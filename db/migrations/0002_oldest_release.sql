-- The oldest release that works with this schema. Older ones reject the database. A migration that removes what a release
-- still uses replaces this function.
CREATE FUNCTION "oldest_release"() RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT '0.2.0' $$;
