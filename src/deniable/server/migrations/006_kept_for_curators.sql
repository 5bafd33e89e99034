CREATE TABLE reports (
    name TEXT PRIMARY KEY,
    attempt TEXT NOT NULL,
    said TEXT NOT NULL,
    record TEXT,
    problem TEXT NOT NULL DEFAULT '',
    began DOUBLE PRECISION NOT NULL,
    lease DOUBLE PRECISION NOT NULL
);
CREATE TABLE addresses (
    handle TEXT PRIMARY KEY,
    address TEXT NOT NULL,
    created DOUBLE PRECISION NOT NULL
)
