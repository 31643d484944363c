-- What was ordered. `request` is sent to the API with every try, exactly like this (R1).
CREATE TABLE shop_order (
    number          TEXT NOT NULL PRIMARY KEY,
    form_token      BLOB NOT NULL,
    good            TEXT NOT NULL,
    quantity        INTEGER NOT NULL,
    idempotency_key BLOB NOT NULL,
    request         TEXT NOT NULL,
    checkout_id     TEXT
) STRICT, WITHOUT ROWID;

-- Which webhooks were acted on: the sender's id of each.
CREATE TABLE webhook (
    id           TEXT NOT NULL PRIMARY KEY,
    order_number TEXT NOT NULL REFERENCES shop_order (number),
    received_ms  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What was shipped: an order once, whatever reports its payment (R20).
CREATE TABLE shipment (
    order_number TEXT NOT NULL PRIMARY KEY REFERENCES shop_order (number),
    webhook_id   TEXT NOT NULL REFERENCES webhook (id),
    shipped_ms   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
