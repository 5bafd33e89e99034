CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE people (
    name TEXT PRIMARY KEY,
    role TEXT NOT NULL,
    frozen INTEGER NOT NULL DEFAULT 0,
    created DOUBLE PRECISION NOT NULL
);
CREATE TABLE credentials (
    hash TEXT PRIMARY KEY,
    person TEXT NOT NULL,
    kind TEXT NOT NULL,
    expires DOUBLE PRECISION,
    created DOUBLE PRECISION NOT NULL
);
CREATE TABLE asks (
    asker TEXT NOT NULL,
    key TEXT NOT NULL,
    body TEXT NOT NULL,
    state TEXT NOT NULL,
    people TEXT NOT NULL,
    head INTEGER NOT NULL DEFAULT 0,
    lease DOUBLE PRECISION NOT NULL,
    question TEXT NOT NULL,
    purpose TEXT NOT NULL DEFAULT '',
    result TEXT,
    created DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (asker, key)
);
CREATE TABLE rates (
    person TEXT NOT NULL,
    kind TEXT NOT NULL,
    minute INTEGER NOT NULL,
    used INTEGER NOT NULL,
    PRIMARY KEY (person, kind)
);
CREATE TABLE registrations (
    identity TEXT PRIMARY KEY,
    people TEXT NOT NULL,
    name TEXT NOT NULL
);
CREATE TABLE log (
    time DOUBLE PRECISION NOT NULL,
    who TEXT NOT NULL,
    what TEXT NOT NULL,
    detail TEXT NOT NULL
);
