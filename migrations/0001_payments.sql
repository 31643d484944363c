-- The merchants, their checkouts, and everything that touches money. One set for SQLite and PostgreSQL.
-- Every primary key and unique index begins with merchant_id where the row belongs to a merchant; api_key is the directory
-- that leads from a caller to the merchant.

CREATE TABLE merchant (
    merchant_id     TEXT   NOT NULL,
    mode            TEXT   NOT NULL CHECK (mode IN ('test', 'live')),
    name            TEXT   NOT NULL,
    provider_kind   TEXT   NOT NULL,
    provider_account TEXT  NOT NULL,
    provider_url    TEXT   NOT NULL,
    -- Encrypted; bound to the merchant.
    provider_secret BYTEA  NOT NULL,
    -- JSON arrays of origins.
    return_origins  TEXT   NOT NULL,
    frame_origins   TEXT   NOT NULL,
    PRIMARY KEY (merchant_id, mode)
);

CREATE TABLE api_key (
    -- SHA-256; the key itself is not kept.
    hash        BYTEA  NOT NULL PRIMARY KEY,
    merchant_id TEXT   NOT NULL,
    mode        TEXT   NOT NULL,
    kind        TEXT   NOT NULL CHECK (kind IN ('secret', 'publishable')),
    FOREIGN KEY (merchant_id, mode) REFERENCES merchant (merchant_id, mode)
);

CREATE TABLE idempotency_key (
    merchant_id  TEXT   NOT NULL,
    mode         TEXT   NOT NULL,
    kind         TEXT   NOT NULL,
    key          TEXT   NOT NULL,
    -- The significant parameters as canonical text, and its SHA-256.
    canonical    TEXT   NOT NULL,
    digest       BYTEA  NOT NULL,
    -- The resource this key names for ever.
    checkout_id  UUID   NOT NULL,
    intent_id    UUID   NOT NULL,
    created_at_ms BIGINT NOT NULL,
    -- The first final answer, byte for byte; tokens in it are blanked out. Null while there is none.
    answer_status   BIGINT,
    answer_location TEXT,
    answer_body     BYTEA,
    CHECK ((answer_status IS NULL) = (answer_body IS NULL)),
    PRIMARY KEY (merchant_id, mode, kind, key)
);

CREATE TABLE checkout (
    merchant_id   TEXT   NOT NULL,
    id            UUID   NOT NULL,
    mode          TEXT   NOT NULL,
    order_id      TEXT   NOT NULL,
    status        TEXT   NOT NULL CHECK (status IN ('open', 'paid', 'canceled', 'expired')),
    version       BIGINT NOT NULL,
    token_version BIGINT NOT NULL,
    amount_minor  BIGINT NOT NULL CHECK (amount_minor > 0),
    currency      TEXT   NOT NULL,
    exponent      BIGINT NOT NULL,
    capture       TEXT   NOT NULL CHECK (capture IN ('automatic', 'manual')),
    description   TEXT,
    return_url    TEXT,
    -- Personal data: here and not in the journal, so that it can be erased.
    email         TEXT,
    metadata      TEXT   NOT NULL,
    created_at_ms BIGINT NOT NULL,
    expires_at_ms BIGINT NOT NULL,
    PRIMARY KEY (merchant_id, id)
);
CREATE UNIQUE INDEX checkout_one_per_order ON checkout (merchant_id, mode, order_id);
CREATE INDEX checkout_expiring ON checkout (expires_at_ms) WHERE status = 'open';

CREATE TABLE payment_intent (
    merchant_id   TEXT   NOT NULL,
    id            UUID   NOT NULL,
    mode          TEXT   NOT NULL,
    checkout_id   UUID   NOT NULL,
    -- Counts from 1 within the checkout.
    number        BIGINT NOT NULL,
    previous_id   UUID,
    submit_key    UUID   NOT NULL,
    amount_minor  BIGINT NOT NULL CHECK (amount_minor > 0),
    currency      TEXT   NOT NULL,
    exponent      BIGINT NOT NULL,
    checkout_version BIGINT NOT NULL,
    state         TEXT   NOT NULL CHECK (state IN ('created', 'processing', 'requires_action', 'confirming', 'authorized',
                                                   'needs_review', 'succeeded', 'declined', 'canceled', 'expired')),
    -- The state with its data, JSON.
    state_data    TEXT   NOT NULL,
    method        TEXT,
    last4         TEXT,
    -- The shopper's own address for the receipt, before the checkout's. Personal data: here and not in the journal, so that
    -- it can be erased.
    email         TEXT,
    version       BIGINT NOT NULL,
    created_at_ms BIGINT NOT NULL,
    PRIMARY KEY (merchant_id, id),
    FOREIGN KEY (merchant_id, checkout_id) REFERENCES checkout (merchant_id, id)
);
-- At most one intent occupies or has paid a checkout.
CREATE UNIQUE INDEX payment_intent_occupying ON payment_intent (merchant_id, checkout_id)
    WHERE state NOT IN ('declined', 'canceled', 'expired');
CREATE UNIQUE INDEX payment_intent_number ON payment_intent (merchant_id, checkout_id, number);

CREATE TABLE operation (
    merchant_id   TEXT   NOT NULL,
    id            UUID   NOT NULL,
    intent_id     UUID   NOT NULL,
    mode          TEXT   NOT NULL,
    kind          TEXT   NOT NULL CHECK (kind IN ('pay')),
    -- What it waits for: a first submit, a worker, a person, nothing.
    stage         TEXT   NOT NULL CHECK (stage IN ('created', 'open', 'review', 'done')),
    provider_key  UUID   NOT NULL,
    -- Frozen by the first dispatch; recovery sends this and nothing else.
    provider_kind    TEXT,
    provider_account TEXT,
    provider_url     TEXT,
    request_method   TEXT,
    request_path     TEXT,
    request_body     BYTEA,
    first_sent_at_ms BIGINT,
    execute_until_ms BIGINT,
    provider_object_id TEXT,
    -- The right to work on it for a while, and the number that makes a stale holder harmless.
    holder        UUID,
    lease_until_ms BIGINT,
    fence         BIGINT NOT NULL,
    -- Sends and queries since the last progress: spaces the next ones.
    tries         BIGINT NOT NULL,
    wake_at_ms    BIGINT,
    PRIMARY KEY (merchant_id, id),
    FOREIGN KEY (merchant_id, intent_id) REFERENCES payment_intent (merchant_id, id),
    CHECK ((holder IS NULL) = (lease_until_ms IS NULL)),
    -- What is open has a wake-up: nothing is ever forgotten.
    CHECK (stage <> 'open' OR wake_at_ms IS NOT NULL),
    CHECK (stage NOT IN ('created', 'done') OR wake_at_ms IS NULL),
    CHECK (stage NOT IN ('open', 'review') OR (request_body IS NOT NULL AND execute_until_ms IS NOT NULL))
);
CREATE UNIQUE INDEX operation_one_pay_per_intent ON operation (merchant_id, intent_id) WHERE kind = 'pay';
CREATE UNIQUE INDEX operation_provider_key ON operation (merchant_id, provider_account, provider_key);
CREATE UNIQUE INDEX operation_provider_object ON operation (merchant_id, provider_account, provider_object_id)
    WHERE kind = 'pay';
CREATE INDEX operation_due ON operation (wake_at_ms) WHERE wake_at_ms IS NOT NULL;

CREATE TABLE attempt (
    merchant_id   TEXT   NOT NULL,
    id            UUID   NOT NULL,
    operation_id  UUID   NOT NULL,
    number        BIGINT NOT NULL,
    fence         BIGINT NOT NULL,
    started_at_ms BIGINT NOT NULL,
    -- Null while it is not known to have ended: unanswered.
    outcome       TEXT,
    PRIMARY KEY (merchant_id, id),
    FOREIGN KEY (merchant_id, operation_id) REFERENCES operation (merchant_id, id)
);
CREATE UNIQUE INDEX attempt_number ON attempt (merchant_id, operation_id, number);

CREATE TABLE charge (
    merchant_id        TEXT   NOT NULL,
    provider_account   TEXT   NOT NULL,
    provider_object_id TEXT   NOT NULL,
    checkout_id        UUID   NOT NULL,
    intent_id          UUID   NOT NULL,
    amount_minor       BIGINT NOT NULL CHECK (amount_minor > 0),
    currency           TEXT   NOT NULL,
    exponent           BIGINT NOT NULL,
    -- 1 where the checkout had been paid before.
    extra              BIGINT NOT NULL CHECK (extra IN (0, 1)),
    at_ms              BIGINT NOT NULL,
    PRIMARY KEY (merchant_id, provider_account, provider_object_id),
    FOREIGN KEY (merchant_id, checkout_id) REFERENCES checkout (merchant_id, id)
);
-- One charge pays a checkout, all others are extras.
CREATE UNIQUE INDEX charge_one_pays ON charge (merchant_id, checkout_id) WHERE extra = 0;

CREATE TABLE journal (
    merchant_id TEXT   NOT NULL,
    intent_id   UUID   NOT NULL,
    seq         BIGINT NOT NULL,
    at_ms       BIGINT NOT NULL,
    from_state  TEXT   NOT NULL,
    event       TEXT   NOT NULL,
    to_state    TEXT   NOT NULL,
    evidence    TEXT   NOT NULL,
    -- SHA-256 over the previous hash and this line.
    hash        BYTEA  NOT NULL,
    PRIMARY KEY (merchant_id, intent_id, seq),
    FOREIGN KEY (merchant_id, intent_id) REFERENCES payment_intent (merchant_id, id)
);
