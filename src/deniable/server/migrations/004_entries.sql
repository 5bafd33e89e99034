ALTER TABLE asks ADD COLUMN entry TEXT NOT NULL DEFAULT '';
CREATE INDEX asks_by_entry ON asks (entry)
