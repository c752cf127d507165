CREATE TABLE "recipient_totals" (
	"team_id" uuid NOT NULL,
	"dimension" text NOT NULL,
	"unit" text NOT NULL,
	"starts_at" timestamp with time zone NOT NULL,
	"value" text NOT NULL,
	"received" integer NOT NULL,
	"sent" integer NOT NULL,
	"delivered" integer NOT NULL,
	"bounced_permanent" integer NOT NULL,
	"bounced_transient" integer NOT NULL,
	"bounced_undetermined" integer NOT NULL,
	"complained" integer NOT NULL,
	"failed" integer NOT NULL,
	"unknown" integer NOT NULL,
	"suppressed" integer NOT NULL,
	"canceled" integer NOT NULL,
	"delayed" integer NOT NULL,
	"opens" integer NOT NULL,
	"clicks" integer NOT NULL,
	"openers" integer NOT NULL,
	"clickers" integer NOT NULL,
	"opens_tracked" integer NOT NULL,
	"clicks_tracked" integer NOT NULL,
	"unsubscribed" integer NOT NULL,
	CONSTRAINT "recipient_totals_team_id_dimension_unit_starts_at_value_pk" PRIMARY KEY("team_id","dimension","unit","starts_at","value")
);
--> statement-breakpoint
-- As in "recipient_counts": the rows of the latest hour and day change with each batch of events.
ALTER TABLE "recipient_totals" SET (fillfactor = 60);
--> statement-breakpoint
-- No release wrote "recipient_counts" without its totals.
INSERT INTO "recipient_totals" (
	"team_id", "dimension", "unit", "starts_at", "value",
	"received", "sent", "delivered", "bounced_permanent", "bounced_transient", "bounced_undetermined", "complained",
	"failed", "unknown", "suppressed", "canceled", "delayed", "opens", "clicks",
	"openers", "clickers", "opens_tracked", "clicks_tracked", "unsubscribed"
)
SELECT c."team_id", t."dimension", c."unit", c."starts_at", t."value",
	sum(c."received"), sum(c."sent"), sum(c."delivered"), sum(c."bounced_permanent"), sum(c."bounced_transient"), sum(c."bounced_undetermined"),
	sum(c."complained"), sum(c."failed"), sum(c."unknown"), sum(c."suppressed"), sum(c."canceled"), sum(c."delayed"),
	sum(c."opens"), sum(c."clicks"), sum(c."openers"), sum(c."clickers"), sum(c."opens_tracked"), sum(c."clicks_tracked"),
	sum(c."unsubscribed")
FROM "recipient_counts" c CROSS JOIN LATERAL (
	SELECT 'tag' AS "dimension", c."tag" AS "value" WHERE c."tag" <> ''
	UNION ALL
	SELECT s."dimension", s."value"
	FROM (VALUES
		('all', ''), ('domain', c."domain"), ('key', coalesce(c."api_key_id"::text, '')), ('provider', c."provider")
	) s ("dimension", "value")
	WHERE c."tag" = ''
) t
GROUP BY 1, 2, 3, 4, 5;
