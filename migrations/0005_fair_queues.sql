-- Whoever has enough of a queue in work is passed over in the search for what is due, by the index alone: of the thousands that
-- may wait for a provider that hangs, no row is read.

DROP INDEX operation_due;
CREATE INDEX operation_due ON operation (wake_at_ms, merchant_id) WHERE wake_at_ms IS NOT NULL;
DROP INDEX outbox_due;
CREATE INDEX outbox_due ON outbox (wake_at_ms, merchant_id) WHERE wake_at_ms IS NOT NULL;
DROP INDEX inbox_due;
CREATE INDEX inbox_due ON inbox (wake_at_ms, merchant_id) WHERE wake_at_ms IS NOT NULL;
