CREATE TABLE "destination_limits" (
	"domain" text PRIMARY KEY NOT NULL,
	"connections_max" integer,
	"per_minute" integer,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "destination_limits_connections" CHECK ("destination_limits"."connections_max" > 0),
	CONSTRAINT "destination_limits_per_minute" CHECK ("destination_limits"."per_minute" > 0),
	CONSTRAINT "destination_limits_limit" CHECK (num_nonnulls("destination_limits"."connections_max", "destination_limits"."per_minute") > 0)
);
