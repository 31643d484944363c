-- What an account is to its merchant: his own, a new one that waits until the gates of his others are up, or one that he left. Who
-- is not his own any more is found at the next start. One that was met in a gap and was not read yet waits on.
ALTER TABLE sweep ADD COLUMN tenure TEXT NOT NULL DEFAULT 'own' CHECK (tenure IN ('own', 'new', 'left'));
UPDATE sweep SET tenure = 'new' WHERE gated_from_ms IS NOT NULL AND swept_until_ms = known_from_ms;
