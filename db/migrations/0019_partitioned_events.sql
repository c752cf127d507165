-- Shorter than the time after which PostgreSQL looks for deadlocks, so that only the migration is repeated and no statement of
-- another transaction fails.
SET LOCAL lock_timeout = '100ms';--> statement-breakpoint
SELECT partition_table('email_events', 'email_id');
