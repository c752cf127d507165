ALTER TABLE "invitations" ADD COLUMN "mailed_token_hash" "bytea";--> statement-breakpoint
ALTER TABLE "sign_in_tokens" ADD COLUMN "is_mailed" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "address_proved_at" timestamp with time zone;--> statement-breakpoint
CREATE UNIQUE INDEX "invitations_mailed_token_key" ON "invitations" USING btree ("mailed_token_hash");--> statement-breakpoint
CREATE INDEX "sessions_age_idx" ON "sessions" USING btree ("created_at");--> statement-breakpoint
-- Whom the operator made, who has an account elsewhere by that address, and who was let in by a mailed link keep all that
-- they have. Left are those who chose a password by the link of an invitation, which its sender had been shown as well.
UPDATE "users" "u" SET "address_proved_at" = now()
WHERE "u"."password_hash" IS NULL
  OR NOT EXISTS (SELECT FROM "invitations" "i" WHERE "i"."accepted_by" = "u"."id" AND "i"."accepted_at" = "u"."created_at")
  OR EXISTS (SELECT FROM "accounts" "a" WHERE "a"."user_id" = "u"."id")
  OR EXISTS (
    SELECT FROM "account_events" "e"
    WHERE "e"."user_id" = "u"."id"
      AND ("e"."kind" = 'password_reset' OR ("e"."kind" = 'signed_in' AND "e"."subject" LIKE 'mailed link%'))
  );
