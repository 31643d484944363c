-- It took money after it was found, and nobody who speaks of it was told so yet: his word is refused once.
ALTER TABLE stranger ADD COLUMN untold BIGINT NOT NULL DEFAULT 0 CHECK (untold IN (0, 1) AND untold <= took_money);
