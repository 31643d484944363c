-- Notifications of providers. Each is written before it is acknowledged, and only ever makes us ask: what it announces is a hint.

CREATE TABLE inbox (
    merchant_id      TEXT   NOT NULL,
    provider_account TEXT   NOT NULL,
    -- Event, object and announced status: what repeats them is the same notification, another status of the object is another.
    identity         TEXT   NOT NULL CHECK (length(identity) <= 300),
    mode             TEXT   NOT NULL,
    event            TEXT   NOT NULL,
    object_id        TEXT   NOT NULL,
    about            TEXT   NOT NULL CHECK (about IN ('payment', 'refund')),
    -- The provider's payment that a refund returns money of.
    payment_id       TEXT,
    -- The status it announces, in the provider's word.
    announced        TEXT   NOT NULL,
    -- Our intent that the object names, if it names one.
    hinted_intent_id UUID,
    received_at_ms   BIGINT NOT NULL,
    -- What it waits for: the provider's answer, an object that becomes known, nothing.
    state            TEXT   NOT NULL CHECK (state IN ('waiting', 'parked', 'done')),
    -- Claims since it last came in: spaces the next ones. Answers of the provider that did not show what it announces.
    tries            BIGINT NOT NULL,
    looks            BIGINT NOT NULL,
    -- The right to work on it for a while, and the number that makes a stale holder harmless.
    holder           UUID,
    lease_until_ms   BIGINT,
    fence            BIGINT NOT NULL,
    wake_at_ms       BIGINT,
    PRIMARY KEY (merchant_id, provider_account, identity),
    CHECK ((about = 'refund') = (payment_id IS NOT NULL)),
    CHECK ((holder IS NULL) = (lease_until_ms IS NULL)),
    -- What is not done has a wake-up: nothing is ever forgotten. What is done is held by nobody.
    CHECK ((state = 'done') = (wake_at_ms IS NULL)),
    CHECK (state <> 'done' OR holder IS NULL)
);
CREATE INDEX inbox_due ON inbox (wake_at_ms) WHERE wake_at_ms IS NOT NULL;
CREATE INDEX inbox_parked ON inbox (merchant_id, received_at_ms) WHERE state = 'parked';
