ALTER TABLE "dkim_keys" DROP CONSTRAINT "dkim_keys_selector_key";--> statement-breakpoint
DROP INDEX "dkim_keys_domain_idx";--> statement-breakpoint
ALTER TABLE "dkim_keys" ADD CONSTRAINT "dkim_keys_selector_key" UNIQUE("team_id","domain_id","selector");