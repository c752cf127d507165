CREATE TABLE "domain_report_counts" (
	"team_id" uuid NOT NULL,
	"domain_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"source" text NOT NULL,
	"day" date NOT NULL,
	"reporter" text NOT NULL,
	"detail" text NOT NULL,
	"is_ours" boolean NOT NULL,
	"is_aligned" boolean NOT NULL,
	"count" bigint NOT NULL,
	CONSTRAINT "domain_report_counts_pk" PRIMARY KEY("team_id","domain_id","kind","source","day","reporter","detail","is_ours","is_aligned")
);
--> statement-breakpoint
CREATE TABLE "domain_reports" (
	"team_id" uuid NOT NULL,
	"domain_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"reporter" text NOT NULL,
	"report_hash" text NOT NULL,
	"ends_at" timestamp with time zone NOT NULL,
	"received_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "domain_reports_team_id_domain_id_kind_reporter_report_hash_pk" PRIMARY KEY("team_id","domain_id","kind","reporter","report_hash")
);
--> statement-breakpoint
ALTER TABLE "domain_report_counts" ADD CONSTRAINT "domain_report_counts_team_id_domain_id_domains_team_id_id_fk" FOREIGN KEY ("team_id","domain_id") REFERENCES "public"."domains"("team_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "domain_reports" ADD CONSTRAINT "domain_reports_team_id_domain_id_domains_team_id_id_fk" FOREIGN KEY ("team_id","domain_id") REFERENCES "public"."domains"("team_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "domain_report_counts_day_idx" ON "domain_report_counts" USING btree ("day");--> statement-breakpoint
CREATE INDEX "domain_reports_received_idx" ON "domain_reports" USING btree ("received_at");