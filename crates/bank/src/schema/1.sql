-- The bank's ledger. Times are milliseconds since 1970, sums are minor units (two places).
CREATE TABLE payment (
    seq             INTEGER PRIMARY KEY,
    id              TEXT NOT NULL UNIQUE,
    created_ms      INTEGER NOT NULL,
    status          TEXT NOT NULL CHECK (status IN ('pending', 'waiting_for_capture', 'succeeded', 'canceled')),
    amount_minor    INTEGER NOT NULL CHECK (amount_minor > 0),
    captured_minor  INTEGER NOT NULL CHECK (captured_minor IN (0, amount_minor)),
    refunded_minor  INTEGER NOT NULL CHECK (refunded_minor BETWEEN 0 AND captured_minor),
    currency        TEXT NOT NULL,
    capture         INTEGER NOT NULL,
    description     TEXT,
    metadata        TEXT NOT NULL,
    return_url      TEXT,
    card            TEXT,
    confirmable     INTEGER NOT NULL,
    outcome         TEXT NOT NULL,
    captured_ms     INTEGER,
    due_ms          INTEGER,
    due_settles     INTEGER NOT NULL,
    cancel_party    TEXT,
    cancel_reason   TEXT,
    CHECK ((status = 'succeeded') = (captured_ms IS NOT NULL)),
    CHECK ((status = 'canceled') = (cancel_reason IS NOT NULL)),
    CHECK ((status IN ('pending', 'waiting_for_capture')) = (due_ms IS NOT NULL))
) STRICT;
CREATE INDEX payment_by_time ON payment (created_ms, seq);
CREATE INDEX payment_due ON payment (due_ms) WHERE due_ms IS NOT NULL;

CREATE TABLE refund (
    seq           INTEGER PRIMARY KEY,
    id            TEXT NOT NULL UNIQUE,
    payment_id    TEXT NOT NULL REFERENCES payment (id),
    created_ms    INTEGER NOT NULL,
    amount_minor  INTEGER NOT NULL CHECK (amount_minor > 0),
    currency      TEXT NOT NULL,
    description   TEXT,
    metadata      TEXT
) STRICT;
CREATE INDEX refund_by_time ON refund (created_ms, seq);
CREATE INDEX refund_by_payment ON refund (payment_id);

-- What stands behind an Idempotence-Key. No body is kept, only its fingerprint.
CREATE TABLE idempotence_key (
    key          TEXT PRIMARY KEY,
    fingerprint  BLOB NOT NULL,
    object_id    TEXT,
    made_ms      INTEGER NOT NULL,
    broken       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- A card token: what a payment needs of the card, never its number or code. Gone with its first payment.
CREATE TABLE token (
    token       TEXT PRIMARY KEY,
    card        TEXT NOT NULL,
    outcome     TEXT NOT NULL,
    created_ms  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX token_by_time ON token (created_ms);

-- Every request for money or about it, answered or not.
CREATE TABLE request (
    seq              INTEGER PRIMARY KEY,
    method           TEXT NOT NULL,
    path             TEXT NOT NULL,
    idempotence_key  TEXT,
    body_sha256      TEXT NOT NULL,
    at_ms            INTEGER NOT NULL,
    answered         INTEGER NOT NULL,
    status           INTEGER,
    replayed         INTEGER NOT NULL,
    CHECK (answered = (status IS NOT NULL))
) STRICT;
