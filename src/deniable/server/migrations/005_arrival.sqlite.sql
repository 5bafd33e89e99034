CREATE TABLE reports_by_ticket (
    collection TEXT NOT NULL,
    ticket BYTEA NOT NULL,
    report BYTEA NOT NULL,
    PRIMARY KEY (collection, ticket)
) WITHOUT ROWID;
INSERT INTO reports_by_ticket SELECT * FROM collection_reports ORDER BY collection, ticket;
DROP TABLE collection_reports;
ALTER TABLE reports_by_ticket RENAME TO collection_reports
