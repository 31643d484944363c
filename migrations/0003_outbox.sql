-- Effects: what follows once from a payment. Each is written in the transaction of the change that it follows from, and goes out
-- afterwards. And where a merchant hears of them.

CREATE TABLE outbox (
    merchant_id   TEXT   NOT NULL,
    -- Follows from kind and subject: the receiver can tell a repeat by it.
    id            UUID   NOT NULL,
    mode          TEXT   NOT NULL,
    kind          TEXT   NOT NULL CHECK (kind IN ('checkout.paid', 'receipt', 'result_known')),
    -- What it happens once for.
    subject_kind  TEXT   NOT NULL CHECK (subject_kind IN ('checkout', 'payment_intent')),
    subject_id    UUID   NOT NULL,
    -- The intent whose change it follows from.
    intent_id     UUID   NOT NULL,
    created_at_ms BIGINT NOT NULL,
    state         TEXT   NOT NULL CHECK (state IN ('waiting', 'delivered', 'delivery_unknown', 'abandoned', 'not_wanted')),
    -- Who tries to deliver it. A holder whose lease has ended is a try without an answer: nobody knows whether it arrived.
    holder        UUID,
    lease_until_ms BIGINT,
    fence         BIGINT NOT NULL,
    tries         BIGINT NOT NULL,
    first_tried_at_ms BIGINT,
    -- What came of the last try, in words.
    outcome       TEXT,
    wake_at_ms    BIGINT,
    PRIMARY KEY (merchant_id, id),
    FOREIGN KEY (merchant_id, intent_id) REFERENCES payment_intent (merchant_id, id),
    CHECK ((holder IS NULL) = (lease_until_ms IS NULL)),
    CHECK ((tries = 0) = (first_tried_at_ms IS NULL)),
    -- What waits has a wake-up: nothing is ever forgotten. What does not wait is held by nobody.
    CHECK ((state = 'waiting') = (wake_at_ms IS NOT NULL)),
    CHECK (state = 'waiting' OR holder IS NULL)
);
CREATE UNIQUE INDEX outbox_once ON outbox (merchant_id, kind, subject_kind, subject_id);
CREATE INDEX outbox_due ON outbox (wake_at_ms) WHERE wake_at_ms IS NOT NULL;
CREATE INDEX outbox_undelivered ON outbox (merchant_id, mode, id) WHERE state IN ('delivery_unknown', 'abandoned');

-- Where the merchant hears of payments; the secret that signs it is encrypted and bound to the merchant.
ALTER TABLE merchant ADD COLUMN webhook_url TEXT;
ALTER TABLE merchant ADD COLUMN webhook_secret BYTEA CHECK ((webhook_url IS NULL) = (webhook_secret IS NULL));
-- SHA-256 of the secret in the address that the provider notifies.
ALTER TABLE merchant ADD COLUMN notify_secret_hash BYTEA;
