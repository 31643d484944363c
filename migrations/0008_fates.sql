-- What became of a charge otherwise than by a refund of ours: it went back to the shopper (support gave it back, the bank took it
-- back), or a person let an extra pay the order, because the money that had paid it went back. Null: it is what it was taken for.
ALTER TABLE charge ADD COLUMN fate TEXT CHECK (fate = 'returned' OR (fate = 'kept' AND extra = 1));
-- One extra pays at most.
CREATE UNIQUE INDEX charge_one_kept ON charge (merchant_id, checkout_id) WHERE fate = 'kept';
