CREATE TABLE "tracking_hosts" (
	"team_id" uuid NOT NULL,
	"domain_id" uuid NOT NULL,
	"host" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"seen_at" timestamp with time zone,
	CONSTRAINT "tracking_hosts_team_id_domain_id_host_pk" PRIMARY KEY("team_id","domain_id","host")
);
--> statement-breakpoint
ALTER TABLE "domains" ADD COLUMN "tracking_host" text;--> statement-breakpoint
ALTER TABLE "emails" ADD COLUMN "tracking_host" text;--> statement-breakpoint
ALTER TABLE "tracking_hosts" ADD CONSTRAINT "tracking_hosts_team_id_domain_id_domains_team_id_id_fk" FOREIGN KEY ("team_id","domain_id") REFERENCES "public"."domains"("team_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "tracking_hosts_host_idx" ON "tracking_hosts" USING btree ("host");