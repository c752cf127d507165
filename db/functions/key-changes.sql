-- Web processes cache keys with their domains and teams, and read them again after this notification. Triggers, because several
-- statements change a key, some of them cascades. An update of `last_used_at` alone, which each use of a key may write, sends none.
CREATE OR REPLACE FUNCTION "announce_key_changes"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('backstamp_keys', '');
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER "api_keys_announced"
  AFTER DELETE OR UPDATE OF "scopes", "all_domains", "limits", "client_networks", "expires_at", "revoked_at" ON "api_keys"
  FOR EACH STATEMENT EXECUTE FUNCTION "announce_key_changes"();

CREATE OR REPLACE TRIGGER "api_key_domains_announced" AFTER INSERT OR DELETE ON "api_key_domains"
  FOR EACH STATEMENT EXECUTE FUNCTION "announce_key_changes"();

CREATE OR REPLACE TRIGGER "domains_announced"
  AFTER INSERT OR DELETE OR UPDATE OF "name", "status", "sending", "open_tracking", "click_tracking", "tracking_host" ON "domains"
  FOR EACH STATEMENT EXECUTE FUNCTION "announce_key_changes"();

-- The keys of a team are rejected while its deletion is requested.
CREATE OR REPLACE TRIGGER "team_deletions_announced" AFTER INSERT OR DELETE OR UPDATE OF "canceled_at" ON "team_deletions"
  FOR EACH STATEMENT EXECUTE FUNCTION "announce_key_changes"();
