-- A stranger may wait at the provider: for its shopper, or for its capture. Until it takes money or ends, it is asked about.
-- Of those found before, nobody knows: they are asked about once.

ALTER TABLE stranger ADD COLUMN took_money BIGINT NOT NULL DEFAULT 0 CHECK (took_money IN (0, 1));
