-- Refunds that are not decided at once, and the notifications.
ALTER TABLE refund ADD COLUMN status TEXT NOT NULL DEFAULT 'succeeded'
    CHECK (status IN ('pending', 'succeeded', 'canceled'));
ALTER TABLE refund ADD COLUMN due_ms INTEGER CHECK ((status = 'pending') = (due_ms IS NOT NULL));
ALTER TABLE refund ADD COLUMN due_succeeds INTEGER NOT NULL DEFAULT 0;
CREATE INDEX refund_due ON refund (due_ms) WHERE due_ms IS NOT NULL;

-- What is to be announced, and what became of it. Those about one object wait in a queue.
CREATE TABLE notification (
    seq        INTEGER PRIMARY KEY,
    event      TEXT NOT NULL,
    object_id  TEXT NOT NULL,
    order_id   TEXT,
    body       TEXT NOT NULL,
    at_ms      INTEGER NOT NULL,
    -- Its place in the queue, which it may leave, or give to the next one as long as next_ms lies ahead.
    place      INTEGER NOT NULL,
    in_turn    INTEGER NOT NULL,
    gives_way  INTEGER NOT NULL,
    -- How often it has yet to be taken.
    copies     INTEGER NOT NULL,
    -- NULL: nothing more is sent.
    next_ms    INTEGER,
    tries      INTEGER NOT NULL,
    status     INTEGER,
    delivered  INTEGER NOT NULL
) STRICT;
CREATE INDEX notification_due ON notification (next_ms, place) WHERE next_ms IS NOT NULL;
CREATE INDEX notification_queue ON notification (object_id, place) WHERE next_ms IS NOT NULL;
