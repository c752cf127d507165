-- Web processes cache the client networks of a key too, so a change of them is announced like that of its other limits.
CREATE OR REPLACE TRIGGER "api_keys_announced"
  AFTER DELETE OR UPDATE OF "scopes", "all_domains", "limits", "client_networks", "expires_at", "revoked_at" ON "api_keys"
  FOR EACH STATEMENT EXECUTE FUNCTION "announce_key_changes"();
