CREATE TABLE collections (
    name TEXT PRIMARY KEY,
    title TEXT NOT NULL,
    purpose TEXT NOT NULL,
    protocol TEXT NOT NULL,
    tickets TEXT NOT NULL,
    public INTEGER NOT NULL,
    batch INTEGER NOT NULL,
    closed INTEGER NOT NULL DEFAULT 0,
    people INTEGER NOT NULL DEFAULT 0,
    counted INTEGER NOT NULL DEFAULT 0,
    published TEXT,
    created DOUBLE PRECISION NOT NULL
);
CREATE TABLE collection_tickets (
    collection TEXT NOT NULL,
    ticket BYTEA NOT NULL,
    PRIMARY KEY (collection, ticket)
);
CREATE TABLE collection_reports (
    collection TEXT NOT NULL,
    ticket BYTEA NOT NULL,
    report BYTEA NOT NULL,
    PRIMARY KEY (collection, ticket)
)
