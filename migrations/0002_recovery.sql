-- Recovery: operations of every kind, what is known of absence, refunds under a guard, the sweep of a provider's listing, and
-- what it found that is not ours. `operation` and `attempt` are copied, since a CHECK cannot be widened in place everywhere.

CREATE TABLE operation_new (
    merchant_id   TEXT   NOT NULL,
    id            UUID   NOT NULL,
    intent_id     UUID   NOT NULL,
    mode          TEXT   NOT NULL,
    kind          TEXT   NOT NULL CHECK (kind IN ('pay', 'capture', 'cancel', 'refund')),
    -- What it waits for: a first submit, a worker, a person, nothing.
    stage         TEXT   NOT NULL CHECK (stage IN ('created', 'open', 'review', 'done')),
    -- Its state with its data, JSON. A pay operation's state is its intent's.
    state_data    TEXT,
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
    -- What it made at the provider: a payment, a refund.
    provider_object_id TEXT,
    -- The provider's payment that it captures, cancels or refunds, and how much of it.
    target_object_id TEXT,
    amount_minor     BIGINT CHECK (amount_minor > 0),
    currency         TEXT,
    exponent         BIGINT,
    -- The right to work on it for a while, and the number that makes a stale holder harmless.
    holder        UUID,
    lease_until_ms BIGINT,
    fence         BIGINT NOT NULL,
    -- Sends and queries since the last progress: spaces the next ones.
    tries         BIGINT NOT NULL,
    -- Claims in a row that came to no commit: what always kills its worker is put before a person.
    unfinished    BIGINT NOT NULL,
    wake_at_ms    BIGINT,
    -- The provider does not want to hear of it earlier, whoever wishes it.
    not_before_ms BIGINT,
    -- When a worker last finished looking.
    looked_at_ms  BIGINT,
    -- When the first complete listing without it began, its card token being dead.
    absent_since_ms BIGINT,
    PRIMARY KEY (merchant_id, id),
    FOREIGN KEY (merchant_id, intent_id) REFERENCES payment_intent (merchant_id, id),
    CHECK ((holder IS NULL) = (lease_until_ms IS NULL)),
    CHECK ((kind = 'pay') = (state_data IS NULL)),
    CHECK ((kind = 'pay') = (target_object_id IS NULL)),
    CHECK ((kind IN ('capture', 'refund')) = (amount_minor IS NOT NULL)),
    -- What is open has a wake-up: nothing is ever forgotten.
    CHECK (stage <> 'open' OR wake_at_ms IS NOT NULL),
    CHECK (stage NOT IN ('created', 'done') OR wake_at_ms IS NULL),
    CHECK (stage NOT IN ('open', 'review') OR (request_body IS NOT NULL AND execute_until_ms IS NOT NULL))
);
INSERT INTO operation_new (merchant_id, id, intent_id, mode, kind, stage, provider_key, provider_kind, provider_account,
    provider_url, request_method, request_path, request_body, first_sent_at_ms, execute_until_ms, provider_object_id, holder,
    lease_until_ms, fence, tries, unfinished, wake_at_ms)
SELECT merchant_id, id, intent_id, mode, kind, stage, provider_key, provider_kind, provider_account,
    provider_url, request_method, request_path, request_body, first_sent_at_ms, execute_until_ms, provider_object_id, holder,
    lease_until_ms, fence, tries, 0, wake_at_ms FROM operation;

CREATE TABLE attempt_new (
    merchant_id   TEXT   NOT NULL,
    id            UUID   NOT NULL,
    operation_id  UUID   NOT NULL,
    number        BIGINT NOT NULL,
    fence         BIGINT NOT NULL,
    started_at_ms BIGINT NOT NULL,
    -- Null while it is not known to have ended: unanswered.
    outcome       TEXT,
    PRIMARY KEY (merchant_id, id),
    FOREIGN KEY (merchant_id, operation_id) REFERENCES operation_new (merchant_id, id)
);
INSERT INTO attempt_new (merchant_id, id, operation_id, number, fence, started_at_ms, outcome)
SELECT merchant_id, id, operation_id, number, fence, started_at_ms, outcome FROM attempt;

DROP TABLE attempt;
DROP TABLE operation;
ALTER TABLE operation_new RENAME TO operation;
ALTER TABLE attempt_new RENAME TO attempt;

CREATE UNIQUE INDEX operation_one_pay_per_intent ON operation (merchant_id, intent_id) WHERE kind = 'pay';
CREATE UNIQUE INDEX operation_provider_key ON operation (merchant_id, provider_account, provider_key);
CREATE UNIQUE INDEX operation_provider_object ON operation (merchant_id, provider_account, provider_object_id)
    WHERE kind IN ('pay', 'refund');
-- One capture or cancel of an intent at a time, and one refund of a payment: equal sums could not be told apart.
CREATE UNIQUE INDEX operation_one_unfinished ON operation (merchant_id, intent_id)
    WHERE kind IN ('capture', 'cancel') AND stage <> 'done';
CREATE UNIQUE INDEX operation_one_refund ON operation (merchant_id, target_object_id)
    WHERE kind = 'refund' AND stage <> 'done';
CREATE INDEX operation_of_intent ON operation (merchant_id, intent_id);
CREATE INDEX operation_due ON operation (wake_at_ms) WHERE wake_at_ms IS NOT NULL;
CREATE INDEX operation_in_review ON operation (merchant_id, mode, id) WHERE stage = 'review';
CREATE UNIQUE INDEX attempt_number ON attempt (merchant_id, operation_id, number);

-- Refunds of a charge: what is asked for and what is done never exceed what was taken.
ALTER TABLE charge ADD COLUMN reserved_minor BIGINT NOT NULL DEFAULT 0 CHECK (reserved_minor >= 0);
ALTER TABLE charge ADD COLUMN refunded_minor BIGINT NOT NULL DEFAULT 0
    CHECK (refunded_minor >= 0 AND reserved_minor + refunded_minor <= amount_minor);
CREATE INDEX charge_of_checkout ON charge (merchant_id, checkout_id);
CREATE INDEX charge_extra ON charge (merchant_id, provider_object_id) WHERE extra = 1;

-- Whether money taken for a paid checkout is given back without a person.
ALTER TABLE merchant ADD COLUMN refund_extras BIGINT NOT NULL DEFAULT 0 CHECK (refund_extras IN (0, 1));

-- The last moment some server was alive. One row.
CREATE TABLE heartbeat (
    id    BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
    at_ms BIGINT NOT NULL
);

-- How far an account's listing was read, and since when nothing is dispatched for it until it is.
CREATE TABLE sweep (
    merchant_id      TEXT   NOT NULL,
    mode             TEXT   NOT NULL,
    provider_account TEXT   NOT NULL,
    -- Nothing that was made before is ours: the account was not known.
    known_from_ms    BIGINT NOT NULL,
    swept_until_ms   BIGINT NOT NULL,
    gated_from_ms    BIGINT,
    PRIMARY KEY (merchant_id, mode, provider_account)
);

-- An object that took money in a merchant's account and that no intent of ours made. While it is open, the order it names takes
-- no dispatch.
CREATE TABLE stranger (
    merchant_id        TEXT   NOT NULL,
    provider_account   TEXT   NOT NULL,
    provider_object_id TEXT   NOT NULL,
    mode               TEXT   NOT NULL,
    order_id           TEXT,
    amount_minor       BIGINT NOT NULL CHECK (amount_minor > 0),
    currency           TEXT   NOT NULL,
    exponent           BIGINT NOT NULL,
    found_at_ms        BIGINT NOT NULL,
    -- What a person made of it, and why.
    resolution         TEXT   CHECK (resolution IN ('linked', 'released')),
    reason             TEXT,
    CHECK ((resolution IS NULL) = (reason IS NULL)),
    PRIMARY KEY (merchant_id, provider_account, provider_object_id)
);
CREATE INDEX stranger_blocks_order ON stranger (merchant_id, mode, order_id) WHERE resolution IS NULL;
