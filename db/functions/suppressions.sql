-- An entry that blocks only lists is an unsubscribe, whether a link, a file or release 0.2.0 adds it.
CREATE OR REPLACE FUNCTION "name_unsubscribe"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW."origin" := 'unsubscribe';
  RETURN NEW;
END $$;

CREATE OR REPLACE TRIGGER "suppressions_named" BEFORE INSERT ON "suppressions"
  FOR EACH ROW WHEN (NEW."lists_only" AND NEW."origin" = 'manual') EXECUTE FUNCTION "name_unsubscribe"();
