ALTER TABLE "templates" ADD COLUMN "revision" integer DEFAULT 1 NOT NULL;--> statement-breakpoint
CREATE INDEX "emails_team_template_idx" ON "emails" USING btree ("team_id","template_id","id") WHERE "emails"."template_id" is not null;--> statement-breakpoint
CREATE INDEX "suppressions_team_prefix_idx" ON "suppressions" USING btree ("team_id","address" text_pattern_ops,"origin");