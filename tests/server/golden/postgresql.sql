-- schema 1
CREATE TABLE IF NOT EXISTS alembic_version (
	version_num VARCHAR(32) NOT NULL,
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);

-- schema 2
CREATE TABLE sessions (
	id TEXT COLLATE "C" NOT NULL,
	created_at BIGINT NOT NULL,
	modified_at BIGINT NOT NULL,
	parent_session_id TEXT COLLATE "C",
	storage_version INTEGER NOT NULL,
	metadata TEXT,
	message_count BIGINT NOT NULL,
	usage TEXT NOT NULL,
	next_seq BIGINT NOT NULL,
	CONSTRAINT pk_sessions PRIMARY KEY (id)
);

-- schema 3
CREATE INDEX ix_sessions_created_at_id ON sessions (created_at, id);

-- schema 4
CREATE TABLE entries (
	session_id TEXT COLLATE "C" NOT NULL,
	id TEXT COLLATE "C" NOT NULL,
	parent_id TEXT COLLATE "C",
	seq BIGINT NOT NULL,
	type TEXT COLLATE "C" NOT NULL,
	custom_type TEXT COLLATE "C",
	timestamp BIGINT NOT NULL,
	payload TEXT NOT NULL,
	segment_seq BIGINT NOT NULL,
	depth BIGINT NOT NULL,
	CONSTRAINT pk_entries PRIMARY KEY (session_id, id),
	CONSTRAINT uq_entries_session_id_seq UNIQUE (session_id, seq),
	CONSTRAINT fk_entries_session_id_sessions FOREIGN KEY(session_id) REFERENCES sessions (id)
);

-- schema 5
CREATE INDEX ix_entries_session_id_segment_seq_seq ON entries (session_id, segment_seq, seq);

-- schema 6
CREATE TABLE list_values (
	session_id TEXT COLLATE "C" NOT NULL,
	scope_id TEXT COLLATE "C" NOT NULL,
	namespace TEXT COLLATE "C" NOT NULL,
	key TEXT COLLATE "C" NOT NULL,
	seq BIGINT NOT NULL,
	value TEXT NOT NULL,
	tag TEXT COLLATE "C",
	CONSTRAINT pk_list_values PRIMARY KEY (session_id, scope_id, namespace, key, seq),
	CONSTRAINT fk_list_values_session_id_sessions FOREIGN KEY(session_id) REFERENCES sessions (id)
);

-- schema 7
CREATE TABLE scalar_values (
	session_id TEXT COLLATE "C" NOT NULL,
	scope_id TEXT COLLATE "C" NOT NULL,
	namespace TEXT COLLATE "C" NOT NULL,
	key TEXT COLLATE "C" NOT NULL,
	seq BIGINT NOT NULL,
	value TEXT NOT NULL,
	CONSTRAINT pk_scalar_values PRIMARY KEY (session_id, scope_id, namespace, key),
	CONSTRAINT fk_scalar_values_session_id_sessions FOREIGN KEY(session_id) REFERENCES sessions (id)
);

-- schema 8
CREATE TABLE usage_ledger (
	session_id TEXT COLLATE "C" NOT NULL,
	id TEXT COLLATE "C" NOT NULL,
	seq BIGINT NOT NULL,
	entry_id TEXT COLLATE "C",
	adjustment BOOLEAN NOT NULL,
	usage TEXT NOT NULL,
	details TEXT,
	CONSTRAINT pk_usage_ledger PRIMARY KEY (session_id, id),
	CONSTRAINT uq_usage_ledger_session_id_seq UNIQUE (session_id, seq),
	CONSTRAINT fk_usage_ledger_session_id_sessions FOREIGN KEY(session_id) REFERENCES sessions (id)
);

-- schema 9
INSERT INTO alembic_version (version_num) VALUES ('0001');

-- begin_write
BEGIN ISOLATION LEVEL READ COMMITTED;

-- begin_snapshot
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;

-- commit
COMMIT;

-- rollback
ROLLBACK;

-- advance_session
UPDATE sessions SET modified_at=%s::BIGINT, message_count=%s::BIGINT, usage=%s::VARCHAR, next_seq=%s::BIGINT WHERE sessions.id = %s::VARCHAR COLLATE "C";

-- all_elements
SELECT list_values.scope_id, list_values.namespace, list_values.key, list_values.seq, list_values.value, list_values.tag
FROM list_values
WHERE list_values.session_id = %s::VARCHAR COLLATE "C" ORDER BY list_values.seq;

-- all_entries
SELECT entries.id, entries.parent_id, entries.seq, entries.timestamp, entries.type, entries.custom_type, entries.payload
FROM entries
WHERE entries.session_id = %s::VARCHAR COLLATE "C" ORDER BY entries.seq;

-- all_places
SELECT entries.id, entries.parent_id, entries.seq, entries.segment_seq, entries.depth, entries.type
FROM entries
WHERE entries.session_id = %s::VARCHAR COLLATE "C" ORDER BY entries.seq;

-- all_structure
SELECT entries.id, entries.parent_id, entries.seq, entries.timestamp, entries.type, entries.custom_type
FROM entries
WHERE entries.session_id = %s::VARCHAR COLLATE "C" ORDER BY entries.seq;

-- all_usage
SELECT usage_ledger.id, usage_ledger.seq, usage_ledger.entry_id, usage_ledger.adjustment, usage_ledger.usage, usage_ledger.details
FROM usage_ledger
WHERE usage_ledger.session_id = %s::VARCHAR COLLATE "C" ORDER BY usage_ledger.seq;

-- all_values
SELECT scalar_values.scope_id, scalar_values.namespace, scalar_values.key, scalar_values.seq, scalar_values.value
FROM scalar_values
WHERE scalar_values.session_id = %s::VARCHAR COLLATE "C" ORDER BY scalar_values.seq;

-- append_elements
INSERT INTO list_values (session_id, scope_id, namespace, key, seq, value, tag) VALUES (%s::VARCHAR COLLATE "C", %s::VARCHAR COLLATE "C", %s::VARCHAR COLLATE "C", %s::VARCHAR COLLATE "C", %s::BIGINT, %s::VARCHAR, %s::VARCHAR COLLATE "C");

-- delete_place[values]
DELETE FROM scalar_values WHERE scalar_values.session_id = %s::VARCHAR COLLATE "C" AND scalar_values.scope_id = %s::VARCHAR COLLATE "C" AND scalar_values.namespace = %s::VARCHAR COLLATE "C" AND scalar_values.key = %s::VARCHAR COLLATE "C";

-- delete_place[lists]
DELETE FROM list_values WHERE list_values.session_id = %s::VARCHAR COLLATE "C" AND list_values.scope_id = %s::VARCHAR COLLATE "C" AND list_values.namespace = %s::VARCHAR COLLATE "C" AND list_values.key = %s::VARCHAR COLLATE "C";

-- delete_session[0]
DELETE FROM entries WHERE entries.session_id = %s::VARCHAR COLLATE "C";

-- delete_session[1]
DELETE FROM scalar_values WHERE scalar_values.session_id = %s::VARCHAR COLLATE "C";

-- delete_session[2]
DELETE FROM list_values WHERE list_values.session_id = %s::VARCHAR COLLATE "C";

-- delete_session[3]
DELETE FROM usage_ledger WHERE usage_ledger.session_id = %s::VARCHAR COLLATE "C";

-- delete_session[4]
DELETE FROM sessions WHERE sessions.id = %s::VARCHAR COLLATE "C";

-- elements_in, two items
SELECT list_values.scope_id, list_values.namespace, list_values.key, list_values.seq, list_values.value, list_values.tag
FROM list_values
WHERE list_values.session_id = %s::VARCHAR COLLATE "C" AND list_values.scope_id = %s::VARCHAR COLLATE "C" AND list_values.namespace = ANY (%s::TEXT[]) ORDER BY list_values.seq;

-- entries_by_id, two items
SELECT found.id, found.parent_id, found.seq, found.timestamp, found.type, found.custom_type, found.payload
FROM unnest(%s::TEXT[]) AS anon_1(text) JOIN LATERAL (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type, entries.payload AS payload
FROM entries
WHERE entries.session_id = %s::VARCHAR COLLATE "C" AND entries.id = (anon_1.text COLLATE "C")
 LIMIT 1) AS found ON true;

-- find_ids, two items
SELECT found.id, found.seq, found.segment_seq, found.depth, found.ends_segment
FROM unnest(%s::TEXT[]) AS anon_1(text) JOIN LATERAL (SELECT entries.id AS id, entries.seq AS seq, entries.segment_seq AS segment_seq, entries.depth AS depth, (SELECT last.seq
FROM entries AS last
WHERE last.session_id = %s::VARCHAR COLLATE "C" AND (last.segment_seq, last.seq) >= (entries.segment_seq, entries.seq) AND (last.segment_seq, last.seq) <= (entries.segment_seq, 9223372036854775807) ORDER BY last.segment_seq DESC, last.seq DESC
 LIMIT 1) = entries.seq AS ends_segment
FROM entries
WHERE entries.session_id = %s::VARCHAR COLLATE "C" AND entries.id = (anon_1.text COLLATE "C")
 LIMIT 1) AS found ON true UNION ALL SELECT found.id, NULL AS anon_2, NULL AS anon__1, NULL AS anon__2, NULL AS anon__3
FROM unnest(%s::TEXT[]) AS anon_3(text) JOIN LATERAL (SELECT usage_ledger.id AS id
FROM usage_ledger
WHERE usage_ledger.session_id = %s::VARCHAR COLLATE "C" AND usage_ledger.id = (anon_3.text COLLATE "C")
 LIMIT 1) AS found ON true;

-- get_value
SELECT scalar_values.seq, scalar_values.value
FROM scalar_values
WHERE scalar_values.session_id = %s::VARCHAR COLLATE "C" AND scalar_values.scope_id = %s::VARCHAR COLLATE "C" AND scalar_values.namespace = %s::VARCHAR COLLATE "C" AND scalar_values.key = %s::VARCHAR COLLATE "C";

-- highest_seqs
SELECT max(entries.seq) AS max_1
FROM entries
WHERE entries.session_id = %s::VARCHAR COLLATE "C" UNION ALL SELECT max(scalar_values.seq) AS max_2
FROM scalar_values
WHERE scalar_values.session_id = %s::VARCHAR COLLATE "C" UNION ALL SELECT max(list_values.seq) AS max_3
FROM list_values
WHERE list_values.session_id = %s::VARCHAR COLLATE "C" UNION ALL SELECT max(usage_ledger.seq) AS max_4
FROM usage_ledger
WHERE usage_ledger.session_id = %s::VARCHAR COLLATE "C";

-- insert_entries
INSERT INTO entries (session_id, id, parent_id, seq, type, custom_type, timestamp, payload, segment_seq, depth) VALUES (%s::VARCHAR COLLATE "C", %s::VARCHAR COLLATE "C", %s::VARCHAR COLLATE "C", %s::BIGINT, %s::VARCHAR COLLATE "C", %s::VARCHAR COLLATE "C", %s::BIGINT, %s::VARCHAR, %s::BIGINT, %s::BIGINT);

-- insert_session
INSERT INTO sessions (id, created_at, modified_at, parent_session_id, storage_version, metadata, message_count, usage, next_seq) VALUES (%s::VARCHAR COLLATE "C", %s::BIGINT, %s::BIGINT, %s::VARCHAR COLLATE "C", %s::INTEGER, %s::VARCHAR, %s::BIGINT, %s::VARCHAR, %s::BIGINT);

-- insert_usage
INSERT INTO usage_ledger (session_id, id, seq, entry_id, adjustment, usage, details) VALUES (%s::VARCHAR COLLATE "C", %s::VARCHAR COLLATE "C", %s::BIGINT, %s::VARCHAR COLLATE "C", %s, %s::VARCHAR, %s::VARCHAR);

-- list_places
SELECT DISTINCT list_values.scope_id, list_values.namespace, list_values.key
FROM list_values
WHERE list_values.session_id = %s::VARCHAR COLLATE "C" AND list_values.scope_id = %s::VARCHAR COLLATE "C";

-- lock_session
SELECT sessions.next_seq, sessions.message_count, sessions.usage
FROM sessions
WHERE sessions.id = %s::VARCHAR COLLATE "C" AND sessions.created_at = %s::BIGINT FOR UPDATE;

-- lock_session_header
SELECT sessions.id, sessions.created_at, sessions.modified_at, sessions.parent_session_id, sessions.storage_version, sessions.metadata
FROM sessions
WHERE sessions.id = %s::VARCHAR COLLATE "C" FOR UPDATE;

-- place_entry
UPDATE entries SET segment_seq=%s::BIGINT, depth=%s::BIGINT WHERE entries.session_id = %s::VARCHAR COLLATE "C" AND entries.id = %s::VARCHAR COLLATE "C";

-- session_header
SELECT sessions.id, sessions.created_at, sessions.modified_at, sessions.parent_session_id, sessions.storage_version, sessions.metadata
FROM sessions
WHERE sessions.id = %s::VARCHAR COLLATE "C";

-- session_image
SELECT sessions.id, sessions.created_at, sessions.modified_at, sessions.parent_session_id, sessions.storage_version, sessions.metadata, sessions.next_seq, sessions.message_count, sessions.usage
FROM sessions
WHERE sessions.id = %s::VARCHAR COLLATE "C";

-- session_state
SELECT sessions.next_seq, sessions.message_count, sessions.usage
FROM sessions
WHERE sessions.id = %s::VARCHAR COLLATE "C" AND sessions.created_at = %s::BIGINT;

-- set_derived
UPDATE sessions SET message_count=%s::BIGINT, usage=%s::VARCHAR, next_seq=%s::BIGINT WHERE sessions.id = %s::VARCHAR COLLATE "C";

-- set_values
INSERT INTO scalar_values (session_id, scope_id, namespace, key, seq, value) VALUES (%s::VARCHAR COLLATE "C", %s::VARCHAR COLLATE "C", %s::VARCHAR COLLATE "C", %s::VARCHAR COLLATE "C", %s::BIGINT, %s::VARCHAR) ON CONFLICT (session_id, scope_id, namespace, key) DO UPDATE SET seq = excluded.seq, value = excluded.value;

-- take_numbers
UPDATE sessions SET modified_at=%s::BIGINT, message_count=(sessions.message_count + %s::BIGINT), next_seq=(sessions.next_seq + %s::BIGINT) WHERE sessions.id = %s::VARCHAR COLLATE "C" AND sessions.created_at = %s::BIGINT RETURNING sessions.next_seq, sessions.message_count, sessions.usage;

-- value_places
SELECT DISTINCT scalar_values.scope_id, scalar_values.namespace, scalar_values.key
FROM scalar_values
WHERE scalar_values.session_id = %s::VARCHAR COLLATE "C" AND scalar_values.scope_id = %s::VARCHAR COLLATE "C";

-- values_in, two items
SELECT scalar_values.scope_id, scalar_values.namespace, scalar_values.key, scalar_values.seq, scalar_values.value
FROM scalar_values
WHERE scalar_values.session_id = %s::VARCHAR COLLATE "C" AND scalar_values.scope_id = %s::VARCHAR COLLATE "C" AND scalar_values.namespace = ANY (%s::TEXT[]) ORDER BY scalar_values.seq;

-- copy_ranges, size 1
INSERT INTO entries (session_id, id, parent_id, seq, type, custom_type, timestamp, payload, segment_seq, depth) SELECT %s::VARCHAR COLLATE "C" AS anon_1, entries.id, entries.parent_id, entries.seq, entries.type, entries.custom_type, entries.timestamp, entries.payload, %s::BIGINT AS anon_2, entries.depth
FROM entries
WHERE entries.session_id = %s::VARCHAR COLLATE "C" AND entries.segment_seq = %s::BIGINT AND entries.seq >= %s::BIGINT AND entries.seq <= %s::BIGINT;

-- copy_ranges, size 2
INSERT INTO entries (session_id, id, parent_id, seq, type, custom_type, timestamp, payload, segment_seq, depth) SELECT %s::VARCHAR COLLATE "C" AS anon_1, entries.id, entries.parent_id, entries.seq, entries.type, entries.custom_type, entries.timestamp, entries.payload, %s::BIGINT AS anon_2, entries.depth
FROM entries
WHERE entries.session_id = %s::VARCHAR COLLATE "C" AND entries.segment_seq = %s::BIGINT AND entries.seq >= %s::BIGINT AND entries.seq <= %s::BIGINT UNION ALL SELECT %s::VARCHAR COLLATE "C" AS anon_3, entries.id, entries.parent_id, entries.seq, entries.type, entries.custom_type, entries.timestamp, entries.payload, %s::BIGINT AS anon_4, entries.depth
FROM entries
WHERE entries.session_id = %s::VARCHAR COLLATE "C" AND entries.segment_seq = %s::BIGINT AND entries.seq >= %s::BIGINT AND entries.seq <= %s::BIGINT;

-- copy_tree
INSERT INTO entries (session_id, id, parent_id, seq, type, custom_type, timestamp, payload, segment_seq, depth) SELECT %s::VARCHAR COLLATE "C" AS anon_1, entries.id, entries.parent_id, entries.seq, entries.type, entries.custom_type, entries.timestamp, entries.payload, entries.segment_seq, entries.depth
FROM entries
WHERE entries.session_id = %s::VARCHAR COLLATE "C" AND entries.seq < %s::BIGINT;

-- count_messages, size 1
SELECT count(*) AS count_1
FROM entries
WHERE entries.session_id = %s::VARCHAR COLLATE "C" AND entries.segment_seq = %s::BIGINT AND entries.seq >= %s::BIGINT AND entries.seq <= %s::BIGINT AND entries.type = %s::VARCHAR COLLATE "C";

-- count_messages, size 2
SELECT count(*) AS count_1
FROM entries
WHERE entries.session_id = %s::VARCHAR COLLATE "C" AND entries.segment_seq = %s::BIGINT AND entries.seq >= %s::BIGINT AND entries.seq <= %s::BIGINT AND entries.type = %s::VARCHAR COLLATE "C" UNION ALL SELECT count(*) AS count_2
FROM entries
WHERE entries.session_id = %s::VARCHAR COLLATE "C" AND entries.segment_seq = %s::BIGINT AND entries.seq >= %s::BIGINT AND entries.seq <= %s::BIGINT AND entries.type = %s::VARCHAR COLLATE "C";

-- single write: append_element
WITH taken AS
(UPDATE sessions SET modified_at=%s::BIGINT, next_seq=(sessions.next_seq + %s::BIGINT) WHERE sessions.id = %s::VARCHAR COLLATE "C" AND sessions.created_at = %s::BIGINT AND sessions.next_seq = coalesce(%s::BIGINT, sessions.next_seq) AND sessions.next_seq < 9007199254740991 RETURNING sessions.id, sessions.next_seq, sessions.message_count, sessions.usage),
written AS
(INSERT INTO list_values (session_id, seq, scope_id, namespace, key, value, tag) SELECT taken.id AS id, taken.next_seq - %s::BIGINT AS anon_1, %s::VARCHAR COLLATE "C" AS anon_2, %s::VARCHAR COLLATE "C" AS anon_3, %s::VARCHAR COLLATE "C" AS anon_4, %s::VARCHAR AS anon_5, %s::VARCHAR COLLATE "C" AS anon_6
FROM taken)
 SELECT taken.next_seq, taken.message_count, taken.usage
FROM taken;

-- single write: set_value
WITH taken AS
(UPDATE sessions SET modified_at=%s::BIGINT, next_seq=(sessions.next_seq + %s::BIGINT) WHERE sessions.id = %s::VARCHAR COLLATE "C" AND sessions.created_at = %s::BIGINT AND sessions.next_seq = coalesce(%s::BIGINT, sessions.next_seq) AND sessions.next_seq < 9007199254740991 RETURNING sessions.id, sessions.next_seq, sessions.message_count, sessions.usage),
written AS
(INSERT INTO scalar_values (session_id, seq, scope_id, namespace, key, value) SELECT taken.id AS id, taken.next_seq - %s::BIGINT AS anon_1, %s::VARCHAR COLLATE "C" AS anon_2, %s::VARCHAR COLLATE "C" AS anon_3, %s::VARCHAR COLLATE "C" AS anon_4, %s::VARCHAR AS anon_5
FROM taken ON CONFLICT (session_id, scope_id, namespace, key) DO UPDATE SET seq = excluded.seq, value = excluded.value)
 SELECT taken.next_seq, taken.message_count, taken.usage
FROM taken;

-- list_sessions(after=False, limited=False)
SELECT sessions.id, sessions.created_at, sessions.modified_at, sessions.parent_session_id, sessions.storage_version, sessions.metadata
FROM sessions ORDER BY sessions.created_at DESC, sessions.id;

-- list_sessions(after=False, limited=True)
SELECT sessions.id, sessions.created_at, sessions.modified_at, sessions.parent_session_id, sessions.storage_version, sessions.metadata
FROM sessions ORDER BY sessions.created_at DESC, sessions.id
 LIMIT %s;

-- list_sessions(after=True, limited=False)
SELECT sessions.id, sessions.created_at, sessions.modified_at, sessions.parent_session_id, sessions.storage_version, sessions.metadata
FROM sessions
WHERE sessions.created_at <= %s::BIGINT AND (sessions.created_at < %s::BIGINT OR sessions.id > %s::VARCHAR COLLATE "C") ORDER BY sessions.created_at DESC, sessions.id;

-- list_sessions(after=True, limited=True)
SELECT sessions.id, sessions.created_at, sessions.modified_at, sessions.parent_session_id, sessions.storage_version, sessions.metadata
FROM sessions
WHERE sessions.created_at <= %s::BIGINT AND (sessions.created_at < %s::BIGINT OR sessions.id > %s::VARCHAR COLLATE "C") ORDER BY sessions.created_at DESC, sessions.id
 LIMIT %s;

-- scan_entries(asc, by_type=False, by_custom_type=False)
SELECT entries.id, entries.parent_id, entries.seq, entries.timestamp, entries.type, entries.custom_type, entries.payload
FROM entries
WHERE entries.session_id = %s::VARCHAR COLLATE "C" AND entries.seq >= %s::BIGINT AND entries.seq <= %s::BIGINT ORDER BY entries.seq
 LIMIT %s;

-- scan_entries(asc, by_type=False, by_custom_type=True)
SELECT entries.id, entries.parent_id, entries.seq, entries.timestamp, entries.type, entries.custom_type, entries.payload
FROM entries
WHERE entries.session_id = %s::VARCHAR COLLATE "C" AND entries.seq >= %s::BIGINT AND entries.seq <= %s::BIGINT AND entries.custom_type = %s::VARCHAR COLLATE "C" ORDER BY entries.seq
 LIMIT %s;

-- scan_entries(asc, by_type=True, by_custom_type=False)
SELECT entries.id, entries.parent_id, entries.seq, entries.timestamp, entries.type, entries.custom_type, entries.payload
FROM entries
WHERE entries.session_id = %s::VARCHAR COLLATE "C" AND entries.seq >= %s::BIGINT AND entries.seq <= %s::BIGINT AND entries.type = %s::VARCHAR COLLATE "C" ORDER BY entries.seq
 LIMIT %s;

-- scan_entries(asc, by_type=True, by_custom_type=True)
SELECT entries.id, entries.parent_id, entries.seq, entries.timestamp, entries.type, entries.custom_type, entries.payload
FROM entries
WHERE entries.session_id = %s::VARCHAR COLLATE "C" AND entries.seq >= %s::BIGINT AND entries.seq <= %s::BIGINT AND entries.type = %s::VARCHAR COLLATE "C" AND entries.custom_type = %s::VARCHAR COLLATE "C" ORDER BY entries.seq
 LIMIT %s;

-- scan_entries(desc, by_type=False, by_custom_type=False)
SELECT entries.id, entries.parent_id, entries.seq, entries.timestamp, entries.type, entries.custom_type, entries.payload
FROM entries
WHERE entries.session_id = %s::VARCHAR COLLATE "C" AND entries.seq >= %s::BIGINT AND entries.seq <= %s::BIGINT ORDER BY entries.seq DESC
 LIMIT %s;

-- scan_entries(desc, by_type=False, by_custom_type=True)
SELECT entries.id, entries.parent_id, entries.seq, entries.timestamp, entries.type, entries.custom_type, entries.payload
FROM entries
WHERE entries.session_id = %s::VARCHAR COLLATE "C" AND entries.seq >= %s::BIGINT AND entries.seq <= %s::BIGINT AND entries.custom_type = %s::VARCHAR COLLATE "C" ORDER BY entries.seq DESC
 LIMIT %s;

-- scan_entries(desc, by_type=True, by_custom_type=False)
SELECT entries.id, entries.parent_id, entries.seq, entries.timestamp, entries.type, entries.custom_type, entries.payload
FROM entries
WHERE entries.session_id = %s::VARCHAR COLLATE "C" AND entries.seq >= %s::BIGINT AND entries.seq <= %s::BIGINT AND entries.type = %s::VARCHAR COLLATE "C" ORDER BY entries.seq DESC
 LIMIT %s;

-- scan_entries(desc, by_type=True, by_custom_type=True)
SELECT entries.id, entries.parent_id, entries.seq, entries.timestamp, entries.type, entries.custom_type, entries.payload
FROM entries
WHERE entries.session_id = %s::VARCHAR COLLATE "C" AND entries.seq >= %s::BIGINT AND entries.seq <= %s::BIGINT AND entries.type = %s::VARCHAR COLLATE "C" AND entries.custom_type = %s::VARCHAR COLLATE "C" ORDER BY entries.seq DESC
 LIMIT %s;

-- scan_usage(asc)
SELECT usage_ledger.id, usage_ledger.seq, usage_ledger.entry_id, usage_ledger.adjustment, usage_ledger.usage, usage_ledger.details
FROM usage_ledger
WHERE usage_ledger.session_id = %s::VARCHAR COLLATE "C" AND usage_ledger.seq >= %s::BIGINT AND usage_ledger.seq <= %s::BIGINT ORDER BY usage_ledger.seq
 LIMIT %s;

-- read_list(asc)
SELECT list_values.seq, list_values.value, list_values.tag
FROM list_values
WHERE list_values.session_id = %s::VARCHAR COLLATE "C" AND list_values.scope_id = %s::VARCHAR COLLATE "C" AND list_values.namespace = %s::VARCHAR COLLATE "C" AND list_values.key = %s::VARCHAR COLLATE "C" AND list_values.seq > %s::BIGINT ORDER BY list_values.seq
 LIMIT %s;

-- scan_usage(desc)
SELECT usage_ledger.id, usage_ledger.seq, usage_ledger.entry_id, usage_ledger.adjustment, usage_ledger.usage, usage_ledger.details
FROM usage_ledger
WHERE usage_ledger.session_id = %s::VARCHAR COLLATE "C" AND usage_ledger.seq >= %s::BIGINT AND usage_ledger.seq <= %s::BIGINT ORDER BY usage_ledger.seq DESC
 LIMIT %s;

-- read_list(desc)
SELECT list_values.seq, list_values.value, list_values.tag
FROM list_values
WHERE list_values.session_id = %s::VARCHAR COLLATE "C" AND list_values.scope_id = %s::VARCHAR COLLATE "C" AND list_values.namespace = %s::VARCHAR COLLATE "C" AND list_values.key = %s::VARCHAR COLLATE "C" AND list_values.seq < %s::BIGINT ORDER BY list_values.seq DESC
 LIMIT %s;

-- scan_values(bounded=False)
SELECT scalar_values.scope_id, scalar_values.namespace, scalar_values.key, scalar_values.seq, scalar_values.value
FROM scalar_values
WHERE scalar_values.session_id = %s::VARCHAR COLLATE "C" AND scalar_values.scope_id = %s::VARCHAR COLLATE "C" AND scalar_values.namespace = %s::VARCHAR COLLATE "C" AND scalar_values.key >= %s::VARCHAR COLLATE "C" ORDER BY scalar_values.key;

-- scan_values(bounded=True)
SELECT scalar_values.scope_id, scalar_values.namespace, scalar_values.key, scalar_values.seq, scalar_values.value
FROM scalar_values
WHERE scalar_values.session_id = %s::VARCHAR COLLATE "C" AND scalar_values.scope_id = %s::VARCHAR COLLATE "C" AND scalar_values.namespace = %s::VARCHAR COLLATE "C" AND scalar_values.key >= %s::VARCHAR COLLATE "C" AND scalar_values.key < %s::VARCHAR COLLATE "C" ORDER BY scalar_values.key;

-- delete_places(values, places=2, scopes=0)
DELETE FROM scalar_values WHERE scalar_values.session_id = %s::VARCHAR COLLATE "C" AND scalar_values.scope_id = %s::VARCHAR COLLATE "C" AND scalar_values.namespace = %s::VARCHAR COLLATE "C" AND scalar_values.key = %s::VARCHAR COLLATE "C" OR scalar_values.session_id = %s::VARCHAR COLLATE "C" AND scalar_values.scope_id = %s::VARCHAR COLLATE "C" AND scalar_values.namespace = %s::VARCHAR COLLATE "C" AND scalar_values.key = %s::VARCHAR COLLATE "C";

-- delete_places(values, places=0, scopes=1)
DELETE FROM scalar_values WHERE scalar_values.session_id = %s::VARCHAR COLLATE "C" AND scalar_values.scope_id = %s::VARCHAR COLLATE "C";

-- delete_places(values, places=2, scopes=1)
DELETE FROM scalar_values WHERE scalar_values.session_id = %s::VARCHAR COLLATE "C" AND scalar_values.scope_id = %s::VARCHAR COLLATE "C" AND scalar_values.namespace = %s::VARCHAR COLLATE "C" AND scalar_values.key = %s::VARCHAR COLLATE "C" OR scalar_values.session_id = %s::VARCHAR COLLATE "C" AND scalar_values.scope_id = %s::VARCHAR COLLATE "C" AND scalar_values.namespace = %s::VARCHAR COLLATE "C" AND scalar_values.key = %s::VARCHAR COLLATE "C" OR scalar_values.session_id = %s::VARCHAR COLLATE "C" AND scalar_values.scope_id = %s::VARCHAR COLLATE "C";

-- delete_places(lists, places=2, scopes=0)
DELETE FROM list_values WHERE list_values.session_id = %s::VARCHAR COLLATE "C" AND list_values.scope_id = %s::VARCHAR COLLATE "C" AND list_values.namespace = %s::VARCHAR COLLATE "C" AND list_values.key = %s::VARCHAR COLLATE "C" OR list_values.session_id = %s::VARCHAR COLLATE "C" AND list_values.scope_id = %s::VARCHAR COLLATE "C" AND list_values.namespace = %s::VARCHAR COLLATE "C" AND list_values.key = %s::VARCHAR COLLATE "C";

-- delete_places(lists, places=0, scopes=1)
DELETE FROM list_values WHERE list_values.session_id = %s::VARCHAR COLLATE "C" AND list_values.scope_id = %s::VARCHAR COLLATE "C";

-- delete_places(lists, places=2, scopes=1)
DELETE FROM list_values WHERE list_values.session_id = %s::VARCHAR COLLATE "C" AND list_values.scope_id = %s::VARCHAR COLLATE "C" AND list_values.namespace = %s::VARCHAR COLLATE "C" AND list_values.key = %s::VARCHAR COLLATE "C" OR list_values.session_id = %s::VARCHAR COLLATE "C" AND list_values.scope_id = %s::VARCHAR COLLATE "C" AND list_values.namespace = %s::VARCHAR COLLATE "C" AND list_values.key = %s::VARCHAR COLLATE "C" OR list_values.session_id = %s::VARCHAR COLLATE "C" AND list_values.scope_id = %s::VARCHAR COLLATE "C";

-- branch head(asc, payload=False, stops=False, filtered=False)
WITH RECURSIVE chain(round, id, segment_seq, seq, depth, base_depth, stop_seq) AS
(SELECT 0 AS round, start.id AS id, start.segment_seq AS segment_seq, start.seq AS seq, start.depth AS depth, CASE WHEN (start.seq < %s::BIGINT) THEN start.depth END AS base_depth, CAST(NULL AS BIGINT) AS stop_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C" UNION ALL SELECT chain.round + 1 AS round, parent_row.id AS id, parent_row.segment_seq AS segment_seq, parent_row.seq AS seq, parent_row.depth AS depth, CASE WHEN (chain.base_depth IS NOT NULL) THEN chain.base_depth WHEN (parent_row.seq < %s::BIGINT) THEN parent_row.depth END AS base_depth, CAST(NULL AS BIGINT) AS stop_seq
FROM chain JOIN LATERAL (SELECT first.id AS id, first.parent_id AS parent_id, first.seq AS seq, first.segment_seq AS segment_seq, first.depth AS depth
FROM entries AS first
WHERE first.session_id = %s::VARCHAR COLLATE "C" AND first.seq = chain.segment_seq
 LIMIT 1) AS first_row ON true JOIN LATERAL (SELECT parent.id AS id, parent.parent_id AS parent_id, parent.seq AS seq, parent.segment_seq AS segment_seq, parent.depth AS depth
FROM entries AS parent
WHERE parent.session_id = %s::VARCHAR COLLATE "C" AND parent.id = first_row.parent_id
 LIMIT 1) AS parent_row ON true
WHERE chain.round < 989 AND parent_row.seq > %s::BIGINT AND (chain.base_depth IS NULL OR chain.base_depth - parent_row.depth < %s::BIGINT))
 SELECT chain.id, CAST(chain.depth AS TEXT) COLLATE "C" AS parent_id, -1 - chain.round AS seq, chain.seq AS timestamp, CAST(chain.segment_seq AS TEXT) COLLATE "C" AS type, CAST(chain.stop_seq AS TEXT) COLLATE "C" AS custom_type
FROM chain UNION ALL SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type
FROM entries
WHERE entries.session_id = %s::VARCHAR COLLATE "C" AND (entries.segment_seq, entries.seq) >= ((SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C"), %s::BIGINT) AND (entries.segment_seq, entries.seq) <= ((SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C"), (SELECT start.seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C")) ORDER BY entries.segment_seq, entries.seq
 LIMIT %s::BIGINT) AS anon_1;

-- branch head(asc, payload=False, stops=False, filtered=True)
WITH RECURSIVE chain(round, id, segment_seq, seq, depth, base_depth, stop_seq) AS
(SELECT 0 AS round, start.id AS id, start.segment_seq AS segment_seq, start.seq AS seq, start.depth AS depth, CASE WHEN (start.seq < %s::BIGINT) THEN start.depth END AS base_depth, CAST(NULL AS BIGINT) AS stop_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C" UNION ALL SELECT chain.round + 1 AS round, parent_row.id AS id, parent_row.segment_seq AS segment_seq, parent_row.seq AS seq, parent_row.depth AS depth, CASE WHEN (chain.base_depth IS NOT NULL) THEN chain.base_depth WHEN (parent_row.seq < %s::BIGINT) THEN parent_row.depth END AS base_depth, CAST(NULL AS BIGINT) AS stop_seq
FROM chain JOIN LATERAL (SELECT first.id AS id, first.parent_id AS parent_id, first.seq AS seq, first.segment_seq AS segment_seq, first.depth AS depth
FROM entries AS first
WHERE first.session_id = %s::VARCHAR COLLATE "C" AND first.seq = chain.segment_seq
 LIMIT 1) AS first_row ON true JOIN LATERAL (SELECT parent.id AS id, parent.parent_id AS parent_id, parent.seq AS seq, parent.segment_seq AS segment_seq, parent.depth AS depth
FROM entries AS parent
WHERE parent.session_id = %s::VARCHAR COLLATE "C" AND parent.id = first_row.parent_id
 LIMIT 1) AS parent_row ON true
WHERE chain.round < 989 AND parent_row.seq > %s::BIGINT AND (chain.base_depth IS NULL OR chain.base_depth - parent_row.depth < %s::BIGINT))
 SELECT chain.id, CAST(chain.depth AS TEXT) COLLATE "C" AS parent_id, -1 - chain.round AS seq, chain.seq AS timestamp, CAST(chain.segment_seq AS TEXT) COLLATE "C" AS type, CAST(chain.stop_seq AS TEXT) COLLATE "C" AS custom_type
FROM chain UNION ALL SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type
FROM entries
WHERE entries.session_id = %s::VARCHAR COLLATE "C" AND (entries.segment_seq, entries.seq) >= ((SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C"), %s::BIGINT) AND (entries.segment_seq, entries.seq) <= ((SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C"), (SELECT start.seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C")) AND (%s::VARCHAR COLLATE "C" = '' OR entries.type = %s::VARCHAR COLLATE "C") AND (%s::VARCHAR COLLATE "C" = '' OR entries.custom_type = %s::VARCHAR COLLATE "C") ORDER BY entries.segment_seq, entries.seq
 LIMIT %s::BIGINT) AS anon_1;

-- branch head(asc, payload=False, stops=True, filtered=False)
WITH RECURSIVE chain(round, id, segment_seq, seq, depth, base_depth, stop_seq) AS
(SELECT 0 AS round, start.id AS id, start.segment_seq AS segment_seq, start.seq AS seq, start.depth AS depth, CASE WHEN (start.seq < %s::BIGINT) THEN start.depth END AS base_depth, (SELECT stop.seq
FROM entries AS stop
WHERE stop.session_id = %s::VARCHAR COLLATE "C" AND (stop.segment_seq, stop.seq) >= (start.segment_seq, 0) AND (stop.segment_seq, stop.seq) <= (start.segment_seq, start.seq) AND (stop.type = %s::VARCHAR COLLATE "C" OR stop.id = %s::VARCHAR COLLATE "C") ORDER BY stop.segment_seq, stop.seq
 LIMIT 1) AS stop_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C" UNION ALL SELECT chain.round + 1 AS round, parent_row.id AS id, parent_row.segment_seq AS segment_seq, parent_row.seq AS seq, parent_row.depth AS depth, CASE WHEN (chain.base_depth IS NOT NULL) THEN chain.base_depth WHEN (parent_row.seq < %s::BIGINT) THEN parent_row.depth END AS base_depth, (SELECT stop.seq
FROM entries AS stop
WHERE stop.session_id = %s::VARCHAR COLLATE "C" AND (stop.segment_seq, stop.seq) >= (parent_row.segment_seq, 0) AND (stop.segment_seq, stop.seq) <= (parent_row.segment_seq, parent_row.seq) AND (stop.type = %s::VARCHAR COLLATE "C" OR stop.id = %s::VARCHAR COLLATE "C") ORDER BY stop.segment_seq, stop.seq
 LIMIT 1) AS stop_seq
FROM chain JOIN LATERAL (SELECT first.id AS id, first.parent_id AS parent_id, first.seq AS seq, first.segment_seq AS segment_seq, first.depth AS depth
FROM entries AS first
WHERE first.session_id = %s::VARCHAR COLLATE "C" AND first.seq = chain.segment_seq
 LIMIT 1) AS first_row ON true JOIN LATERAL (SELECT parent.id AS id, parent.parent_id AS parent_id, parent.seq AS seq, parent.segment_seq AS segment_seq, parent.depth AS depth
FROM entries AS parent
WHERE parent.session_id = %s::VARCHAR COLLATE "C" AND parent.id = first_row.parent_id
 LIMIT 1) AS parent_row ON true
WHERE chain.round < 989 AND parent_row.seq > %s::BIGINT AND (chain.base_depth IS NULL OR chain.base_depth - parent_row.depth < %s::BIGINT))
 SELECT chain.id, CAST(chain.depth AS TEXT) COLLATE "C" AS parent_id, -1 - chain.round AS seq, chain.seq AS timestamp, CAST(chain.segment_seq AS TEXT) COLLATE "C" AS type, CAST(chain.stop_seq AS TEXT) COLLATE "C" AS custom_type
FROM chain UNION ALL SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type
FROM entries
WHERE entries.session_id = %s::VARCHAR COLLATE "C" AND (entries.segment_seq, entries.seq) >= ((SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C"), %s::BIGINT) AND (entries.segment_seq, entries.seq) <= ((SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C"), coalesce((SELECT stop.seq
FROM entries AS stop
WHERE stop.session_id = %s::VARCHAR COLLATE "C" AND (stop.segment_seq, stop.seq) >= ((SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C"), 0) AND (stop.segment_seq, stop.seq) <= ((SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C"), (SELECT start.seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C")) AND (stop.type = %s::VARCHAR COLLATE "C" OR stop.id = %s::VARCHAR COLLATE "C") ORDER BY stop.segment_seq, stop.seq
 LIMIT 1), (SELECT start.seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C"))) ORDER BY entries.segment_seq, entries.seq
 LIMIT %s::BIGINT) AS anon_1;

-- branch head(asc, payload=False, stops=True, filtered=True)
WITH RECURSIVE chain(round, id, segment_seq, seq, depth, base_depth, stop_seq) AS
(SELECT 0 AS round, start.id AS id, start.segment_seq AS segment_seq, start.seq AS seq, start.depth AS depth, CASE WHEN (start.seq < %s::BIGINT) THEN start.depth END AS base_depth, (SELECT stop.seq
FROM entries AS stop
WHERE stop.session_id = %s::VARCHAR COLLATE "C" AND (stop.segment_seq, stop.seq) >= (start.segment_seq, 0) AND (stop.segment_seq, stop.seq) <= (start.segment_seq, start.seq) AND (stop.type = %s::VARCHAR COLLATE "C" OR stop.id = %s::VARCHAR COLLATE "C") ORDER BY stop.segment_seq, stop.seq
 LIMIT 1) AS stop_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C" UNION ALL SELECT chain.round + 1 AS round, parent_row.id AS id, parent_row.segment_seq AS segment_seq, parent_row.seq AS seq, parent_row.depth AS depth, CASE WHEN (chain.base_depth IS NOT NULL) THEN chain.base_depth WHEN (parent_row.seq < %s::BIGINT) THEN parent_row.depth END AS base_depth, (SELECT stop.seq
FROM entries AS stop
WHERE stop.session_id = %s::VARCHAR COLLATE "C" AND (stop.segment_seq, stop.seq) >= (parent_row.segment_seq, 0) AND (stop.segment_seq, stop.seq) <= (parent_row.segment_seq, parent_row.seq) AND (stop.type = %s::VARCHAR COLLATE "C" OR stop.id = %s::VARCHAR COLLATE "C") ORDER BY stop.segment_seq, stop.seq
 LIMIT 1) AS stop_seq
FROM chain JOIN LATERAL (SELECT first.id AS id, first.parent_id AS parent_id, first.seq AS seq, first.segment_seq AS segment_seq, first.depth AS depth
FROM entries AS first
WHERE first.session_id = %s::VARCHAR COLLATE "C" AND first.seq = chain.segment_seq
 LIMIT 1) AS first_row ON true JOIN LATERAL (SELECT parent.id AS id, parent.parent_id AS parent_id, parent.seq AS seq, parent.segment_seq AS segment_seq, parent.depth AS depth
FROM entries AS parent
WHERE parent.session_id = %s::VARCHAR COLLATE "C" AND parent.id = first_row.parent_id
 LIMIT 1) AS parent_row ON true
WHERE chain.round < 989 AND parent_row.seq > %s::BIGINT AND (chain.base_depth IS NULL OR chain.base_depth - parent_row.depth < %s::BIGINT))
 SELECT chain.id, CAST(chain.depth AS TEXT) COLLATE "C" AS parent_id, -1 - chain.round AS seq, chain.seq AS timestamp, CAST(chain.segment_seq AS TEXT) COLLATE "C" AS type, CAST(chain.stop_seq AS TEXT) COLLATE "C" AS custom_type
FROM chain UNION ALL SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type
FROM entries
WHERE entries.session_id = %s::VARCHAR COLLATE "C" AND (entries.segment_seq, entries.seq) >= ((SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C"), %s::BIGINT) AND (entries.segment_seq, entries.seq) <= ((SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C"), coalesce((SELECT stop.seq
FROM entries AS stop
WHERE stop.session_id = %s::VARCHAR COLLATE "C" AND (stop.segment_seq, stop.seq) >= ((SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C"), 0) AND (stop.segment_seq, stop.seq) <= ((SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C"), (SELECT start.seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C")) AND (stop.type = %s::VARCHAR COLLATE "C" OR stop.id = %s::VARCHAR COLLATE "C") ORDER BY stop.segment_seq, stop.seq
 LIMIT 1), (SELECT start.seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C"))) AND (%s::VARCHAR COLLATE "C" = '' OR entries.type = %s::VARCHAR COLLATE "C") AND (%s::VARCHAR COLLATE "C" = '' OR entries.custom_type = %s::VARCHAR COLLATE "C") ORDER BY entries.segment_seq, entries.seq
 LIMIT %s::BIGINT) AS anon_1;

-- branch head(asc, payload=True, stops=False, filtered=False)
WITH RECURSIVE chain(round, id, segment_seq, seq, depth, base_depth, stop_seq) AS
(SELECT 0 AS round, start.id AS id, start.segment_seq AS segment_seq, start.seq AS seq, start.depth AS depth, CASE WHEN (start.seq < %s::BIGINT) THEN start.depth END AS base_depth, CAST(NULL AS BIGINT) AS stop_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C" UNION ALL SELECT chain.round + 1 AS round, parent_row.id AS id, parent_row.segment_seq AS segment_seq, parent_row.seq AS seq, parent_row.depth AS depth, CASE WHEN (chain.base_depth IS NOT NULL) THEN chain.base_depth WHEN (parent_row.seq < %s::BIGINT) THEN parent_row.depth END AS base_depth, CAST(NULL AS BIGINT) AS stop_seq
FROM chain JOIN LATERAL (SELECT first.id AS id, first.parent_id AS parent_id, first.seq AS seq, first.segment_seq AS segment_seq, first.depth AS depth
FROM entries AS first
WHERE first.session_id = %s::VARCHAR COLLATE "C" AND first.seq = chain.segment_seq
 LIMIT 1) AS first_row ON true JOIN LATERAL (SELECT parent.id AS id, parent.parent_id AS parent_id, parent.seq AS seq, parent.segment_seq AS segment_seq, parent.depth AS depth
FROM entries AS parent
WHERE parent.session_id = %s::VARCHAR COLLATE "C" AND parent.id = first_row.parent_id
 LIMIT 1) AS parent_row ON true
WHERE chain.round < 989 AND parent_row.seq > %s::BIGINT AND (chain.base_depth IS NULL OR chain.base_depth - parent_row.depth < %s::BIGINT))
 SELECT chain.id, CAST(chain.depth AS TEXT) COLLATE "C" AS parent_id, -1 - chain.round AS seq, chain.seq AS timestamp, CAST(chain.segment_seq AS TEXT) COLLATE "C" AS type, CAST(chain.stop_seq AS TEXT) COLLATE "C" AS custom_type, NULL AS payload
FROM chain UNION ALL SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type, anon_1.payload
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type, entries.payload AS payload
FROM entries
WHERE entries.session_id = %s::VARCHAR COLLATE "C" AND (entries.segment_seq, entries.seq) >= ((SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C"), %s::BIGINT) AND (entries.segment_seq, entries.seq) <= ((SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C"), (SELECT start.seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C")) ORDER BY entries.segment_seq, entries.seq
 LIMIT %s::BIGINT) AS anon_1;

-- branch head(asc, payload=True, stops=False, filtered=True)
WITH RECURSIVE chain(round, id, segment_seq, seq, depth, base_depth, stop_seq) AS
(SELECT 0 AS round, start.id AS id, start.segment_seq AS segment_seq, start.seq AS seq, start.depth AS depth, CASE WHEN (start.seq < %s::BIGINT) THEN start.depth END AS base_depth, CAST(NULL AS BIGINT) AS stop_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C" UNION ALL SELECT chain.round + 1 AS round, parent_row.id AS id, parent_row.segment_seq AS segment_seq, parent_row.seq AS seq, parent_row.depth AS depth, CASE WHEN (chain.base_depth IS NOT NULL) THEN chain.base_depth WHEN (parent_row.seq < %s::BIGINT) THEN parent_row.depth END AS base_depth, CAST(NULL AS BIGINT) AS stop_seq
FROM chain JOIN LATERAL (SELECT first.id AS id, first.parent_id AS parent_id, first.seq AS seq, first.segment_seq AS segment_seq, first.depth AS depth
FROM entries AS first
WHERE first.session_id = %s::VARCHAR COLLATE "C" AND first.seq = chain.segment_seq
 LIMIT 1) AS first_row ON true JOIN LATERAL (SELECT parent.id AS id, parent.parent_id AS parent_id, parent.seq AS seq, parent.segment_seq AS segment_seq, parent.depth AS depth
FROM entries AS parent
WHERE parent.session_id = %s::VARCHAR COLLATE "C" AND parent.id = first_row.parent_id
 LIMIT 1) AS parent_row ON true
WHERE chain.round < 989 AND parent_row.seq > %s::BIGINT AND (chain.base_depth IS NULL OR chain.base_depth - parent_row.depth < %s::BIGINT))
 SELECT chain.id, CAST(chain.depth AS TEXT) COLLATE "C" AS parent_id, -1 - chain.round AS seq, chain.seq AS timestamp, CAST(chain.segment_seq AS TEXT) COLLATE "C" AS type, CAST(chain.stop_seq AS TEXT) COLLATE "C" AS custom_type, NULL AS payload
FROM chain UNION ALL SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type, anon_1.payload
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type, entries.payload AS payload
FROM entries
WHERE entries.session_id = %s::VARCHAR COLLATE "C" AND (entries.segment_seq, entries.seq) >= ((SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C"), %s::BIGINT) AND (entries.segment_seq, entries.seq) <= ((SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C"), (SELECT start.seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C")) AND (%s::VARCHAR COLLATE "C" = '' OR entries.type = %s::VARCHAR COLLATE "C") AND (%s::VARCHAR COLLATE "C" = '' OR entries.custom_type = %s::VARCHAR COLLATE "C") ORDER BY entries.segment_seq, entries.seq
 LIMIT %s::BIGINT) AS anon_1;

-- branch head(asc, payload=True, stops=True, filtered=False)
WITH RECURSIVE chain(round, id, segment_seq, seq, depth, base_depth, stop_seq) AS
(SELECT 0 AS round, start.id AS id, start.segment_seq AS segment_seq, start.seq AS seq, start.depth AS depth, CASE WHEN (start.seq < %s::BIGINT) THEN start.depth END AS base_depth, (SELECT stop.seq
FROM entries AS stop
WHERE stop.session_id = %s::VARCHAR COLLATE "C" AND (stop.segment_seq, stop.seq) >= (start.segment_seq, 0) AND (stop.segment_seq, stop.seq) <= (start.segment_seq, start.seq) AND (stop.type = %s::VARCHAR COLLATE "C" OR stop.id = %s::VARCHAR COLLATE "C") ORDER BY stop.segment_seq, stop.seq
 LIMIT 1) AS stop_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C" UNION ALL SELECT chain.round + 1 AS round, parent_row.id AS id, parent_row.segment_seq AS segment_seq, parent_row.seq AS seq, parent_row.depth AS depth, CASE WHEN (chain.base_depth IS NOT NULL) THEN chain.base_depth WHEN (parent_row.seq < %s::BIGINT) THEN parent_row.depth END AS base_depth, (SELECT stop.seq
FROM entries AS stop
WHERE stop.session_id = %s::VARCHAR COLLATE "C" AND (stop.segment_seq, stop.seq) >= (parent_row.segment_seq, 0) AND (stop.segment_seq, stop.seq) <= (parent_row.segment_seq, parent_row.seq) AND (stop.type = %s::VARCHAR COLLATE "C" OR stop.id = %s::VARCHAR COLLATE "C") ORDER BY stop.segment_seq, stop.seq
 LIMIT 1) AS stop_seq
FROM chain JOIN LATERAL (SELECT first.id AS id, first.parent_id AS parent_id, first.seq AS seq, first.segment_seq AS segment_seq, first.depth AS depth
FROM entries AS first
WHERE first.session_id = %s::VARCHAR COLLATE "C" AND first.seq = chain.segment_seq
 LIMIT 1) AS first_row ON true JOIN LATERAL (SELECT parent.id AS id, parent.parent_id AS parent_id, parent.seq AS seq, parent.segment_seq AS segment_seq, parent.depth AS depth
FROM entries AS parent
WHERE parent.session_id = %s::VARCHAR COLLATE "C" AND parent.id = first_row.parent_id
 LIMIT 1) AS parent_row ON true
WHERE chain.round < 989 AND parent_row.seq > %s::BIGINT AND (chain.base_depth IS NULL OR chain.base_depth - parent_row.depth < %s::BIGINT))
 SELECT chain.id, CAST(chain.depth AS TEXT) COLLATE "C" AS parent_id, -1 - chain.round AS seq, chain.seq AS timestamp, CAST(chain.segment_seq AS TEXT) COLLATE "C" AS type, CAST(chain.stop_seq AS TEXT) COLLATE "C" AS custom_type, NULL AS payload
FROM chain UNION ALL SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type, anon_1.payload
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type, entries.payload AS payload
FROM entries
WHERE entries.session_id = %s::VARCHAR COLLATE "C" AND (entries.segment_seq, entries.seq) >= ((SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C"), %s::BIGINT) AND (entries.segment_seq, entries.seq) <= ((SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C"), coalesce((SELECT stop.seq
FROM entries AS stop
WHERE stop.session_id = %s::VARCHAR COLLATE "C" AND (stop.segment_seq, stop.seq) >= ((SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C"), 0) AND (stop.segment_seq, stop.seq) <= ((SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C"), (SELECT start.seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C")) AND (stop.type = %s::VARCHAR COLLATE "C" OR stop.id = %s::VARCHAR COLLATE "C") ORDER BY stop.segment_seq, stop.seq
 LIMIT 1), (SELECT start.seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C"))) ORDER BY entries.segment_seq, entries.seq
 LIMIT %s::BIGINT) AS anon_1;

-- branch head(asc, payload=True, stops=True, filtered=True)
WITH RECURSIVE chain(round, id, segment_seq, seq, depth, base_depth, stop_seq) AS
(SELECT 0 AS round, start.id AS id, start.segment_seq AS segment_seq, start.seq AS seq, start.depth AS depth, CASE WHEN (start.seq < %s::BIGINT) THEN start.depth END AS base_depth, (SELECT stop.seq
FROM entries AS stop
WHERE stop.session_id = %s::VARCHAR COLLATE "C" AND (stop.segment_seq, stop.seq) >= (start.segment_seq, 0) AND (stop.segment_seq, stop.seq) <= (start.segment_seq, start.seq) AND (stop.type = %s::VARCHAR COLLATE "C" OR stop.id = %s::VARCHAR COLLATE "C") ORDER BY stop.segment_seq, stop.seq
 LIMIT 1) AS stop_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C" UNION ALL SELECT chain.round + 1 AS round, parent_row.id AS id, parent_row.segment_seq AS segment_seq, parent_row.seq AS seq, parent_row.depth AS depth, CASE WHEN (chain.base_depth IS NOT NULL) THEN chain.base_depth WHEN (parent_row.seq < %s::BIGINT) THEN parent_row.depth END AS base_depth, (SELECT stop.seq
FROM entries AS stop
WHERE stop.session_id = %s::VARCHAR COLLATE "C" AND (stop.segment_seq, stop.seq) >= (parent_row.segment_seq, 0) AND (stop.segment_seq, stop.seq) <= (parent_row.segment_seq, parent_row.seq) AND (stop.type = %s::VARCHAR COLLATE "C" OR stop.id = %s::VARCHAR COLLATE "C") ORDER BY stop.segment_seq, stop.seq
 LIMIT 1) AS stop_seq
FROM chain JOIN LATERAL (SELECT first.id AS id, first.parent_id AS parent_id, first.seq AS seq, first.segment_seq AS segment_seq, first.depth AS depth
FROM entries AS first
WHERE first.session_id = %s::VARCHAR COLLATE "C" AND first.seq = chain.segment_seq
 LIMIT 1) AS first_row ON true JOIN LATERAL (SELECT parent.id AS id, parent.parent_id AS parent_id, parent.seq AS seq, parent.segment_seq AS segment_seq, parent.depth AS depth
FROM entries AS parent
WHERE parent.session_id = %s::VARCHAR COLLATE "C" AND parent.id = first_row.parent_id
 LIMIT 1) AS parent_row ON true
WHERE chain.round < 989 AND parent_row.seq > %s::BIGINT AND (chain.base_depth IS NULL OR chain.base_depth - parent_row.depth < %s::BIGINT))
 SELECT chain.id, CAST(chain.depth AS TEXT) COLLATE "C" AS parent_id, -1 - chain.round AS seq, chain.seq AS timestamp, CAST(chain.segment_seq AS TEXT) COLLATE "C" AS type, CAST(chain.stop_seq AS TEXT) COLLATE "C" AS custom_type, NULL AS payload
FROM chain UNION ALL SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type, anon_1.payload
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type, entries.payload AS payload
FROM entries
WHERE entries.session_id = %s::VARCHAR COLLATE "C" AND (entries.segment_seq, entries.seq) >= ((SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C"), %s::BIGINT) AND (entries.segment_seq, entries.seq) <= ((SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C"), coalesce((SELECT stop.seq
FROM entries AS stop
WHERE stop.session_id = %s::VARCHAR COLLATE "C" AND (stop.segment_seq, stop.seq) >= ((SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C"), 0) AND (stop.segment_seq, stop.seq) <= ((SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C"), (SELECT start.seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C")) AND (stop.type = %s::VARCHAR COLLATE "C" OR stop.id = %s::VARCHAR COLLATE "C") ORDER BY stop.segment_seq, stop.seq
 LIMIT 1), (SELECT start.seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C"))) AND (%s::VARCHAR COLLATE "C" = '' OR entries.type = %s::VARCHAR COLLATE "C") AND (%s::VARCHAR COLLATE "C" = '' OR entries.custom_type = %s::VARCHAR COLLATE "C") ORDER BY entries.segment_seq, entries.seq
 LIMIT %s::BIGINT) AS anon_1;

-- branch head(desc, payload=False, stops=False, filtered=False)
WITH RECURSIVE chain(round, id, segment_seq, seq, depth, base_depth, stop_seq) AS
(SELECT 0 AS round, start.id AS id, start.segment_seq AS segment_seq, start.seq AS seq, start.depth AS depth, CASE WHEN (start.seq < %s::BIGINT) THEN start.depth END AS base_depth, CAST(NULL AS BIGINT) AS stop_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C" UNION ALL SELECT chain.round + 1 AS round, parent_row.id AS id, parent_row.segment_seq AS segment_seq, parent_row.seq AS seq, parent_row.depth AS depth, CASE WHEN (chain.base_depth IS NOT NULL) THEN chain.base_depth WHEN (parent_row.seq < %s::BIGINT) THEN parent_row.depth END AS base_depth, CAST(NULL AS BIGINT) AS stop_seq
FROM chain JOIN LATERAL (SELECT first.id AS id, first.parent_id AS parent_id, first.seq AS seq, first.segment_seq AS segment_seq, first.depth AS depth
FROM entries AS first
WHERE first.session_id = %s::VARCHAR COLLATE "C" AND first.seq = chain.segment_seq
 LIMIT 1) AS first_row ON true JOIN LATERAL (SELECT parent.id AS id, parent.parent_id AS parent_id, parent.seq AS seq, parent.segment_seq AS segment_seq, parent.depth AS depth
FROM entries AS parent
WHERE parent.session_id = %s::VARCHAR COLLATE "C" AND parent.id = first_row.parent_id
 LIMIT 1) AS parent_row ON true
WHERE chain.round < 989 AND parent_row.seq > %s::BIGINT AND (chain.base_depth IS NULL OR chain.base_depth - parent_row.depth < %s::BIGINT))
 SELECT chain.id, CAST(chain.depth AS TEXT) COLLATE "C" AS parent_id, -1 - chain.round AS seq, chain.seq AS timestamp, CAST(chain.segment_seq AS TEXT) COLLATE "C" AS type, CAST(chain.stop_seq AS TEXT) COLLATE "C" AS custom_type
FROM chain UNION ALL SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type
FROM entries
WHERE entries.session_id = %s::VARCHAR COLLATE "C" AND (entries.segment_seq, entries.seq) >= ((SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C"), %s::BIGINT) AND (entries.segment_seq, entries.seq) <= ((SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C"), CASE WHEN ((SELECT start.seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C") < %s::BIGINT) THEN (SELECT start.seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C") ELSE %s::BIGINT - 1 END) ORDER BY entries.segment_seq DESC, entries.seq DESC
 LIMIT %s::BIGINT) AS anon_1;

-- branch head(desc, payload=False, stops=False, filtered=True)
WITH RECURSIVE chain(round, id, segment_seq, seq, depth, base_depth, stop_seq) AS
(SELECT 0 AS round, start.id AS id, start.segment_seq AS segment_seq, start.seq AS seq, start.depth AS depth, CASE WHEN (start.seq < %s::BIGINT) THEN start.depth END AS base_depth, CAST(NULL AS BIGINT) AS stop_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C" UNION ALL SELECT chain.round + 1 AS round, parent_row.id AS id, parent_row.segment_seq AS segment_seq, parent_row.seq AS seq, parent_row.depth AS depth, CASE WHEN (chain.base_depth IS NOT NULL) THEN chain.base_depth WHEN (parent_row.seq < %s::BIGINT) THEN parent_row.depth END AS base_depth, CAST(NULL AS BIGINT) AS stop_seq
FROM chain JOIN LATERAL (SELECT first.id AS id, first.parent_id AS parent_id, first.seq AS seq, first.segment_seq AS segment_seq, first.depth AS depth
FROM entries AS first
WHERE first.session_id = %s::VARCHAR COLLATE "C" AND first.seq = chain.segment_seq
 LIMIT 1) AS first_row ON true JOIN LATERAL (SELECT parent.id AS id, parent.parent_id AS parent_id, parent.seq AS seq, parent.segment_seq AS segment_seq, parent.depth AS depth
FROM entries AS parent
WHERE parent.session_id = %s::VARCHAR COLLATE "C" AND parent.id = first_row.parent_id
 LIMIT 1) AS parent_row ON true
WHERE chain.round < 989 AND parent_row.seq > %s::BIGINT AND (chain.base_depth IS NULL OR chain.base_depth - parent_row.depth < %s::BIGINT))
 SELECT chain.id, CAST(chain.depth AS TEXT) COLLATE "C" AS parent_id, -1 - chain.round AS seq, chain.seq AS timestamp, CAST(chain.segment_seq AS TEXT) COLLATE "C" AS type, CAST(chain.stop_seq AS TEXT) COLLATE "C" AS custom_type
FROM chain UNION ALL SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type
FROM entries
WHERE entries.session_id = %s::VARCHAR COLLATE "C" AND (entries.segment_seq, entries.seq) >= ((SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C"), %s::BIGINT) AND (entries.segment_seq, entries.seq) <= ((SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C"), CASE WHEN ((SELECT start.seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C") < %s::BIGINT) THEN (SELECT start.seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C") ELSE %s::BIGINT - 1 END) AND (%s::VARCHAR COLLATE "C" = '' OR entries.type = %s::VARCHAR COLLATE "C") AND (%s::VARCHAR COLLATE "C" = '' OR entries.custom_type = %s::VARCHAR COLLATE "C") ORDER BY entries.segment_seq DESC, entries.seq DESC
 LIMIT %s::BIGINT) AS anon_1;

-- branch head(desc, payload=False, stops=True, filtered=False)
WITH RECURSIVE chain(round, id, segment_seq, seq, depth, base_depth, stop_seq) AS
(SELECT 0 AS round, start.id AS id, start.segment_seq AS segment_seq, start.seq AS seq, start.depth AS depth, CASE WHEN (start.seq < %s::BIGINT) THEN start.depth END AS base_depth, (SELECT stop.seq
FROM entries AS stop
WHERE stop.session_id = %s::VARCHAR COLLATE "C" AND (stop.segment_seq, stop.seq) >= (start.segment_seq, 0) AND (stop.segment_seq, stop.seq) <= (start.segment_seq, start.seq) AND (stop.type = %s::VARCHAR COLLATE "C" OR stop.id = %s::VARCHAR COLLATE "C") ORDER BY stop.segment_seq DESC, stop.seq DESC
 LIMIT 1) AS stop_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C" UNION ALL SELECT chain.round + 1 AS round, parent_row.id AS id, parent_row.segment_seq AS segment_seq, parent_row.seq AS seq, parent_row.depth AS depth, CASE WHEN (chain.base_depth IS NOT NULL) THEN chain.base_depth WHEN (parent_row.seq < %s::BIGINT) THEN parent_row.depth END AS base_depth, (SELECT stop.seq
FROM entries AS stop
WHERE stop.session_id = %s::VARCHAR COLLATE "C" AND (stop.segment_seq, stop.seq) >= (parent_row.segment_seq, 0) AND (stop.segment_seq, stop.seq) <= (parent_row.segment_seq, parent_row.seq) AND (stop.type = %s::VARCHAR COLLATE "C" OR stop.id = %s::VARCHAR COLLATE "C") ORDER BY stop.segment_seq DESC, stop.seq DESC
 LIMIT 1) AS stop_seq
FROM chain JOIN LATERAL (SELECT first.id AS id, first.parent_id AS parent_id, first.seq AS seq, first.segment_seq AS segment_seq, first.depth AS depth
FROM entries AS first
WHERE first.session_id = %s::VARCHAR COLLATE "C" AND first.seq = chain.segment_seq
 LIMIT 1) AS first_row ON true JOIN LATERAL (SELECT parent.id AS id, parent.parent_id AS parent_id, parent.seq AS seq, parent.segment_seq AS segment_seq, parent.depth AS depth
FROM entries AS parent
WHERE parent.session_id = %s::VARCHAR COLLATE "C" AND parent.id = first_row.parent_id
 LIMIT 1) AS parent_row ON true
WHERE chain.round < 989 AND parent_row.seq > %s::BIGINT AND (chain.base_depth IS NULL OR chain.base_depth - parent_row.depth < %s::BIGINT) AND chain.stop_seq IS NULL)
 SELECT chain.id, CAST(chain.depth AS TEXT) COLLATE "C" AS parent_id, -1 - chain.round AS seq, chain.seq AS timestamp, CAST(chain.segment_seq AS TEXT) COLLATE "C" AS type, CAST(chain.stop_seq AS TEXT) COLLATE "C" AS custom_type
FROM chain UNION ALL SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type
FROM entries
WHERE entries.session_id = %s::VARCHAR COLLATE "C" AND (entries.segment_seq, entries.seq) >= ((SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C"), coalesce((SELECT stop.seq
FROM entries AS stop
WHERE stop.session_id = %s::VARCHAR COLLATE "C" AND (stop.segment_seq, stop.seq) >= ((SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C"), 0) AND (stop.segment_seq, stop.seq) <= ((SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C"), (SELECT start.seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C")) AND (stop.type = %s::VARCHAR COLLATE "C" OR stop.id = %s::VARCHAR COLLATE "C") ORDER BY stop.segment_seq DESC, stop.seq DESC
 LIMIT 1), %s::BIGINT)) AND (entries.segment_seq, entries.seq) <= ((SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C"), CASE WHEN ((SELECT start.seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C") < %s::BIGINT) THEN (SELECT start.seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C") ELSE %s::BIGINT - 1 END) ORDER BY entries.segment_seq DESC, entries.seq DESC
 LIMIT %s::BIGINT) AS anon_1;

-- branch head(desc, payload=False, stops=True, filtered=True)
WITH RECURSIVE chain(round, id, segment_seq, seq, depth, base_depth, stop_seq) AS
(SELECT 0 AS round, start.id AS id, start.segment_seq AS segment_seq, start.seq AS seq, start.depth AS depth, CASE WHEN (start.seq < %s::BIGINT) THEN start.depth END AS base_depth, (SELECT stop.seq
FROM entries AS stop
WHERE stop.session_id = %s::VARCHAR COLLATE "C" AND (stop.segment_seq, stop.seq) >= (start.segment_seq, 0) AND (stop.segment_seq, stop.seq) <= (start.segment_seq, start.seq) AND (stop.type = %s::VARCHAR COLLATE "C" OR stop.id = %s::VARCHAR COLLATE "C") ORDER BY stop.segment_seq DESC, stop.seq DESC
 LIMIT 1) AS stop_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C" UNION ALL SELECT chain.round + 1 AS round, parent_row.id AS id, parent_row.segment_seq AS segment_seq, parent_row.seq AS seq, parent_row.depth AS depth, CASE WHEN (chain.base_depth IS NOT NULL) THEN chain.base_depth WHEN (parent_row.seq < %s::BIGINT) THEN parent_row.depth END AS base_depth, (SELECT stop.seq
FROM entries AS stop
WHERE stop.session_id = %s::VARCHAR COLLATE "C" AND (stop.segment_seq, stop.seq) >= (parent_row.segment_seq, 0) AND (stop.segment_seq, stop.seq) <= (parent_row.segment_seq, parent_row.seq) AND (stop.type = %s::VARCHAR COLLATE "C" OR stop.id = %s::VARCHAR COLLATE "C") ORDER BY stop.segment_seq DESC, stop.seq DESC
 LIMIT 1) AS stop_seq
FROM chain JOIN LATERAL (SELECT first.id AS id, first.parent_id AS parent_id, first.seq AS seq, first.segment_seq AS segment_seq, first.depth AS depth
FROM entries AS first
WHERE first.session_id = %s::VARCHAR COLLATE "C" AND first.seq = chain.segment_seq
 LIMIT 1) AS first_row ON true JOIN LATERAL (SELECT parent.id AS id, parent.parent_id AS parent_id, parent.seq AS seq, parent.segment_seq AS segment_seq, parent.depth AS depth
FROM entries AS parent
WHERE parent.session_id = %s::VARCHAR COLLATE "C" AND parent.id = first_row.parent_id
 LIMIT 1) AS parent_row ON true
WHERE chain.round < 989 AND parent_row.seq > %s::BIGINT AND (chain.base_depth IS NULL OR chain.base_depth - parent_row.depth < %s::BIGINT) AND chain.stop_seq IS NULL)
 SELECT chain.id, CAST(chain.depth AS TEXT) COLLATE "C" AS parent_id, -1 - chain.round AS seq, chain.seq AS timestamp, CAST(chain.segment_seq AS TEXT) COLLATE "C" AS type, CAST(chain.stop_seq AS TEXT) COLLATE "C" AS custom_type
FROM chain UNION ALL SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type
FROM entries
WHERE entries.session_id = %s::VARCHAR COLLATE "C" AND (entries.segment_seq, entries.seq) >= ((SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C"), coalesce((SELECT stop.seq
FROM entries AS stop
WHERE stop.session_id = %s::VARCHAR COLLATE "C" AND (stop.segment_seq, stop.seq) >= ((SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C"), 0) AND (stop.segment_seq, stop.seq) <= ((SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C"), (SELECT start.seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C")) AND (stop.type = %s::VARCHAR COLLATE "C" OR stop.id = %s::VARCHAR COLLATE "C") ORDER BY stop.segment_seq DESC, stop.seq DESC
 LIMIT 1), %s::BIGINT)) AND (entries.segment_seq, entries.seq) <= ((SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C"), CASE WHEN ((SELECT start.seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C") < %s::BIGINT) THEN (SELECT start.seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C") ELSE %s::BIGINT - 1 END) AND (%s::VARCHAR COLLATE "C" = '' OR entries.type = %s::VARCHAR COLLATE "C") AND (%s::VARCHAR COLLATE "C" = '' OR entries.custom_type = %s::VARCHAR COLLATE "C") ORDER BY entries.segment_seq DESC, entries.seq DESC
 LIMIT %s::BIGINT) AS anon_1;

-- branch head(desc, payload=True, stops=False, filtered=False)
WITH RECURSIVE chain(round, id, segment_seq, seq, depth, base_depth, stop_seq) AS
(SELECT 0 AS round, start.id AS id, start.segment_seq AS segment_seq, start.seq AS seq, start.depth AS depth, CASE WHEN (start.seq < %s::BIGINT) THEN start.depth END AS base_depth, CAST(NULL AS BIGINT) AS stop_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C" UNION ALL SELECT chain.round + 1 AS round, parent_row.id AS id, parent_row.segment_seq AS segment_seq, parent_row.seq AS seq, parent_row.depth AS depth, CASE WHEN (chain.base_depth IS NOT NULL) THEN chain.base_depth WHEN (parent_row.seq < %s::BIGINT) THEN parent_row.depth END AS base_depth, CAST(NULL AS BIGINT) AS stop_seq
FROM chain JOIN LATERAL (SELECT first.id AS id, first.parent_id AS parent_id, first.seq AS seq, first.segment_seq AS segment_seq, first.depth AS depth
FROM entries AS first
WHERE first.session_id = %s::VARCHAR COLLATE "C" AND first.seq = chain.segment_seq
 LIMIT 1) AS first_row ON true JOIN LATERAL (SELECT parent.id AS id, parent.parent_id AS parent_id, parent.seq AS seq, parent.segment_seq AS segment_seq, parent.depth AS depth
FROM entries AS parent
WHERE parent.session_id = %s::VARCHAR COLLATE "C" AND parent.id = first_row.parent_id
 LIMIT 1) AS parent_row ON true
WHERE chain.round < 989 AND parent_row.seq > %s::BIGINT AND (chain.base_depth IS NULL OR chain.base_depth - parent_row.depth < %s::BIGINT))
 SELECT chain.id, CAST(chain.depth AS TEXT) COLLATE "C" AS parent_id, -1 - chain.round AS seq, chain.seq AS timestamp, CAST(chain.segment_seq AS TEXT) COLLATE "C" AS type, CAST(chain.stop_seq AS TEXT) COLLATE "C" AS custom_type, NULL AS payload
FROM chain UNION ALL SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type, anon_1.payload
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type, entries.payload AS payload
FROM entries
WHERE entries.session_id = %s::VARCHAR COLLATE "C" AND (entries.segment_seq, entries.seq) >= ((SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C"), %s::BIGINT) AND (entries.segment_seq, entries.seq) <= ((SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C"), CASE WHEN ((SELECT start.seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C") < %s::BIGINT) THEN (SELECT start.seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C") ELSE %s::BIGINT - 1 END) ORDER BY entries.segment_seq DESC, entries.seq DESC
 LIMIT %s::BIGINT) AS anon_1;

-- branch head(desc, payload=True, stops=False, filtered=True)
WITH RECURSIVE chain(round, id, segment_seq, seq, depth, base_depth, stop_seq) AS
(SELECT 0 AS round, start.id AS id, start.segment_seq AS segment_seq, start.seq AS seq, start.depth AS depth, CASE WHEN (start.seq < %s::BIGINT) THEN start.depth END AS base_depth, CAST(NULL AS BIGINT) AS stop_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C" UNION ALL SELECT chain.round + 1 AS round, parent_row.id AS id, parent_row.segment_seq AS segment_seq, parent_row.seq AS seq, parent_row.depth AS depth, CASE WHEN (chain.base_depth IS NOT NULL) THEN chain.base_depth WHEN (parent_row.seq < %s::BIGINT) THEN parent_row.depth END AS base_depth, CAST(NULL AS BIGINT) AS stop_seq
FROM chain JOIN LATERAL (SELECT first.id AS id, first.parent_id AS parent_id, first.seq AS seq, first.segment_seq AS segment_seq, first.depth AS depth
FROM entries AS first
WHERE first.session_id = %s::VARCHAR COLLATE "C" AND first.seq = chain.segment_seq
 LIMIT 1) AS first_row ON true JOIN LATERAL (SELECT parent.id AS id, parent.parent_id AS parent_id, parent.seq AS seq, parent.segment_seq AS segment_seq, parent.depth AS depth
FROM entries AS parent
WHERE parent.session_id = %s::VARCHAR COLLATE "C" AND parent.id = first_row.parent_id
 LIMIT 1) AS parent_row ON true
WHERE chain.round < 989 AND parent_row.seq > %s::BIGINT AND (chain.base_depth IS NULL OR chain.base_depth - parent_row.depth < %s::BIGINT))
 SELECT chain.id, CAST(chain.depth AS TEXT) COLLATE "C" AS parent_id, -1 - chain.round AS seq, chain.seq AS timestamp, CAST(chain.segment_seq AS TEXT) COLLATE "C" AS type, CAST(chain.stop_seq AS TEXT) COLLATE "C" AS custom_type, NULL AS payload
FROM chain UNION ALL SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type, anon_1.payload
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type, entries.payload AS payload
FROM entries
WHERE entries.session_id = %s::VARCHAR COLLATE "C" AND (entries.segment_seq, entries.seq) >= ((SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C"), %s::BIGINT) AND (entries.segment_seq, entries.seq) <= ((SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C"), CASE WHEN ((SELECT start.seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C") < %s::BIGINT) THEN (SELECT start.seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C") ELSE %s::BIGINT - 1 END) AND (%s::VARCHAR COLLATE "C" = '' OR entries.type = %s::VARCHAR COLLATE "C") AND (%s::VARCHAR COLLATE "C" = '' OR entries.custom_type = %s::VARCHAR COLLATE "C") ORDER BY entries.segment_seq DESC, entries.seq DESC
 LIMIT %s::BIGINT) AS anon_1;

-- branch head(desc, payload=True, stops=True, filtered=False)
WITH RECURSIVE chain(round, id, segment_seq, seq, depth, base_depth, stop_seq) AS
(SELECT 0 AS round, start.id AS id, start.segment_seq AS segment_seq, start.seq AS seq, start.depth AS depth, CASE WHEN (start.seq < %s::BIGINT) THEN start.depth END AS base_depth, (SELECT stop.seq
FROM entries AS stop
WHERE stop.session_id = %s::VARCHAR COLLATE "C" AND (stop.segment_seq, stop.seq) >= (start.segment_seq, 0) AND (stop.segment_seq, stop.seq) <= (start.segment_seq, start.seq) AND (stop.type = %s::VARCHAR COLLATE "C" OR stop.id = %s::VARCHAR COLLATE "C") ORDER BY stop.segment_seq DESC, stop.seq DESC
 LIMIT 1) AS stop_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C" UNION ALL SELECT chain.round + 1 AS round, parent_row.id AS id, parent_row.segment_seq AS segment_seq, parent_row.seq AS seq, parent_row.depth AS depth, CASE WHEN (chain.base_depth IS NOT NULL) THEN chain.base_depth WHEN (parent_row.seq < %s::BIGINT) THEN parent_row.depth END AS base_depth, (SELECT stop.seq
FROM entries AS stop
WHERE stop.session_id = %s::VARCHAR COLLATE "C" AND (stop.segment_seq, stop.seq) >= (parent_row.segment_seq, 0) AND (stop.segment_seq, stop.seq) <= (parent_row.segment_seq, parent_row.seq) AND (stop.type = %s::VARCHAR COLLATE "C" OR stop.id = %s::VARCHAR COLLATE "C") ORDER BY stop.segment_seq DESC, stop.seq DESC
 LIMIT 1) AS stop_seq
FROM chain JOIN LATERAL (SELECT first.id AS id, first.parent_id AS parent_id, first.seq AS seq, first.segment_seq AS segment_seq, first.depth AS depth
FROM entries AS first
WHERE first.session_id = %s::VARCHAR COLLATE "C" AND first.seq = chain.segment_seq
 LIMIT 1) AS first_row ON true JOIN LATERAL (SELECT parent.id AS id, parent.parent_id AS parent_id, parent.seq AS seq, parent.segment_seq AS segment_seq, parent.depth AS depth
FROM entries AS parent
WHERE parent.session_id = %s::VARCHAR COLLATE "C" AND parent.id = first_row.parent_id
 LIMIT 1) AS parent_row ON true
WHERE chain.round < 989 AND parent_row.seq > %s::BIGINT AND (chain.base_depth IS NULL OR chain.base_depth - parent_row.depth < %s::BIGINT) AND chain.stop_seq IS NULL)
 SELECT chain.id, CAST(chain.depth AS TEXT) COLLATE "C" AS parent_id, -1 - chain.round AS seq, chain.seq AS timestamp, CAST(chain.segment_seq AS TEXT) COLLATE "C" AS type, CAST(chain.stop_seq AS TEXT) COLLATE "C" AS custom_type, NULL AS payload
FROM chain UNION ALL SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type, anon_1.payload
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type, entries.payload AS payload
FROM entries
WHERE entries.session_id = %s::VARCHAR COLLATE "C" AND (entries.segment_seq, entries.seq) >= ((SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C"), coalesce((SELECT stop.seq
FROM entries AS stop
WHERE stop.session_id = %s::VARCHAR COLLATE "C" AND (stop.segment_seq, stop.seq) >= ((SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C"), 0) AND (stop.segment_seq, stop.seq) <= ((SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C"), (SELECT start.seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C")) AND (stop.type = %s::VARCHAR COLLATE "C" OR stop.id = %s::VARCHAR COLLATE "C") ORDER BY stop.segment_seq DESC, stop.seq DESC
 LIMIT 1), %s::BIGINT)) AND (entries.segment_seq, entries.seq) <= ((SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C"), CASE WHEN ((SELECT start.seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C") < %s::BIGINT) THEN (SELECT start.seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C") ELSE %s::BIGINT - 1 END) ORDER BY entries.segment_seq DESC, entries.seq DESC
 LIMIT %s::BIGINT) AS anon_1;

-- branch head(desc, payload=True, stops=True, filtered=True)
WITH RECURSIVE chain(round, id, segment_seq, seq, depth, base_depth, stop_seq) AS
(SELECT 0 AS round, start.id AS id, start.segment_seq AS segment_seq, start.seq AS seq, start.depth AS depth, CASE WHEN (start.seq < %s::BIGINT) THEN start.depth END AS base_depth, (SELECT stop.seq
FROM entries AS stop
WHERE stop.session_id = %s::VARCHAR COLLATE "C" AND (stop.segment_seq, stop.seq) >= (start.segment_seq, 0) AND (stop.segment_seq, stop.seq) <= (start.segment_seq, start.seq) AND (stop.type = %s::VARCHAR COLLATE "C" OR stop.id = %s::VARCHAR COLLATE "C") ORDER BY stop.segment_seq DESC, stop.seq DESC
 LIMIT 1) AS stop_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C" UNION ALL SELECT chain.round + 1 AS round, parent_row.id AS id, parent_row.segment_seq AS segment_seq, parent_row.seq AS seq, parent_row.depth AS depth, CASE WHEN (chain.base_depth IS NOT NULL) THEN chain.base_depth WHEN (parent_row.seq < %s::BIGINT) THEN parent_row.depth END AS base_depth, (SELECT stop.seq
FROM entries AS stop
WHERE stop.session_id = %s::VARCHAR COLLATE "C" AND (stop.segment_seq, stop.seq) >= (parent_row.segment_seq, 0) AND (stop.segment_seq, stop.seq) <= (parent_row.segment_seq, parent_row.seq) AND (stop.type = %s::VARCHAR COLLATE "C" OR stop.id = %s::VARCHAR COLLATE "C") ORDER BY stop.segment_seq DESC, stop.seq DESC
 LIMIT 1) AS stop_seq
FROM chain JOIN LATERAL (SELECT first.id AS id, first.parent_id AS parent_id, first.seq AS seq, first.segment_seq AS segment_seq, first.depth AS depth
FROM entries AS first
WHERE first.session_id = %s::VARCHAR COLLATE "C" AND first.seq = chain.segment_seq
 LIMIT 1) AS first_row ON true JOIN LATERAL (SELECT parent.id AS id, parent.parent_id AS parent_id, parent.seq AS seq, parent.segment_seq AS segment_seq, parent.depth AS depth
FROM entries AS parent
WHERE parent.session_id = %s::VARCHAR COLLATE "C" AND parent.id = first_row.parent_id
 LIMIT 1) AS parent_row ON true
WHERE chain.round < 989 AND parent_row.seq > %s::BIGINT AND (chain.base_depth IS NULL OR chain.base_depth - parent_row.depth < %s::BIGINT) AND chain.stop_seq IS NULL)
 SELECT chain.id, CAST(chain.depth AS TEXT) COLLATE "C" AS parent_id, -1 - chain.round AS seq, chain.seq AS timestamp, CAST(chain.segment_seq AS TEXT) COLLATE "C" AS type, CAST(chain.stop_seq AS TEXT) COLLATE "C" AS custom_type, NULL AS payload
FROM chain UNION ALL SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type, anon_1.payload
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type, entries.payload AS payload
FROM entries
WHERE entries.session_id = %s::VARCHAR COLLATE "C" AND (entries.segment_seq, entries.seq) >= ((SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C"), coalesce((SELECT stop.seq
FROM entries AS stop
WHERE stop.session_id = %s::VARCHAR COLLATE "C" AND (stop.segment_seq, stop.seq) >= ((SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C"), 0) AND (stop.segment_seq, stop.seq) <= ((SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C"), (SELECT start.seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C")) AND (stop.type = %s::VARCHAR COLLATE "C" OR stop.id = %s::VARCHAR COLLATE "C") ORDER BY stop.segment_seq DESC, stop.seq DESC
 LIMIT 1), %s::BIGINT)) AND (entries.segment_seq, entries.seq) <= ((SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C"), CASE WHEN ((SELECT start.seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C") < %s::BIGINT) THEN (SELECT start.seq
FROM entries AS start
WHERE start.session_id = %s::VARCHAR COLLATE "C" AND start.id = %s::VARCHAR COLLATE "C") ELSE %s::BIGINT - 1 END) AND (%s::VARCHAR COLLATE "C" = '' OR entries.type = %s::VARCHAR COLLATE "C") AND (%s::VARCHAR COLLATE "C" = '' OR entries.custom_type = %s::VARCHAR COLLATE "C") ORDER BY entries.segment_seq DESC, entries.seq DESC
 LIMIT %s::BIGINT) AS anon_1;

-- branch arms(asc, payload=False, filtered=False), size 1
SELECT entries.id, entries.parent_id, entries.seq, entries.timestamp, entries.type, entries.custom_type
FROM entries
WHERE entries.session_id = %s::VARCHAR COLLATE "C" AND (entries.segment_seq, entries.seq) >= (%s::BIGINT, %s::BIGINT) AND (entries.segment_seq, entries.seq) <= (%s::BIGINT, %s::BIGINT) ORDER BY entries.segment_seq, entries.seq
 LIMIT %s::BIGINT;

-- branch arms(asc, payload=False, filtered=False), size 2
SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type
FROM entries
WHERE entries.session_id = %s::VARCHAR COLLATE "C" AND (entries.segment_seq, entries.seq) >= (%s::BIGINT, %s::BIGINT) AND (entries.segment_seq, entries.seq) <= (%s::BIGINT, %s::BIGINT) ORDER BY entries.segment_seq, entries.seq
 LIMIT %s::BIGINT) AS anon_1 UNION ALL SELECT anon_2.id, anon_2.parent_id, anon_2.seq, anon_2.timestamp, anon_2.type, anon_2.custom_type
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type
FROM entries
WHERE entries.session_id = %s::VARCHAR COLLATE "C" AND (entries.segment_seq, entries.seq) >= (%s::BIGINT, %s::BIGINT) AND (entries.segment_seq, entries.seq) <= (%s::BIGINT, %s::BIGINT) ORDER BY entries.segment_seq, entries.seq
 LIMIT %s::BIGINT) AS anon_2;

-- branch arms(asc, payload=False, filtered=True), size 1
SELECT entries.id, entries.parent_id, entries.seq, entries.timestamp, entries.type, entries.custom_type
FROM entries
WHERE entries.session_id = %s::VARCHAR COLLATE "C" AND (entries.segment_seq, entries.seq) >= (%s::BIGINT, %s::BIGINT) AND (entries.segment_seq, entries.seq) <= (%s::BIGINT, %s::BIGINT) AND (%s::VARCHAR COLLATE "C" = '' OR entries.type = %s::VARCHAR COLLATE "C") AND (%s::VARCHAR COLLATE "C" = '' OR entries.custom_type = %s::VARCHAR COLLATE "C") ORDER BY entries.segment_seq, entries.seq
 LIMIT %s::BIGINT;

-- branch arms(asc, payload=False, filtered=True), size 2
SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type
FROM entries
WHERE entries.session_id = %s::VARCHAR COLLATE "C" AND (entries.segment_seq, entries.seq) >= (%s::BIGINT, %s::BIGINT) AND (entries.segment_seq, entries.seq) <= (%s::BIGINT, %s::BIGINT) AND (%s::VARCHAR COLLATE "C" = '' OR entries.type = %s::VARCHAR COLLATE "C") AND (%s::VARCHAR COLLATE "C" = '' OR entries.custom_type = %s::VARCHAR COLLATE "C") ORDER BY entries.segment_seq, entries.seq
 LIMIT %s::BIGINT) AS anon_1 UNION ALL SELECT anon_2.id, anon_2.parent_id, anon_2.seq, anon_2.timestamp, anon_2.type, anon_2.custom_type
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type
FROM entries
WHERE entries.session_id = %s::VARCHAR COLLATE "C" AND (entries.segment_seq, entries.seq) >= (%s::BIGINT, %s::BIGINT) AND (entries.segment_seq, entries.seq) <= (%s::BIGINT, %s::BIGINT) AND (%s::VARCHAR COLLATE "C" = '' OR entries.type = %s::VARCHAR COLLATE "C") AND (%s::VARCHAR COLLATE "C" = '' OR entries.custom_type = %s::VARCHAR COLLATE "C") ORDER BY entries.segment_seq, entries.seq
 LIMIT %s::BIGINT) AS anon_2;

-- branch arms(asc, payload=True, filtered=False), size 1
SELECT entries.id, entries.parent_id, entries.seq, entries.timestamp, entries.type, entries.custom_type, entries.payload
FROM entries
WHERE entries.session_id = %s::VARCHAR COLLATE "C" AND (entries.segment_seq, entries.seq) >= (%s::BIGINT, %s::BIGINT) AND (entries.segment_seq, entries.seq) <= (%s::BIGINT, %s::BIGINT) ORDER BY entries.segment_seq, entries.seq
 LIMIT %s::BIGINT;

-- branch arms(asc, payload=True, filtered=False), size 2
SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type, anon_1.payload
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type, entries.payload AS payload
FROM entries
WHERE entries.session_id = %s::VARCHAR COLLATE "C" AND (entries.segment_seq, entries.seq) >= (%s::BIGINT, %s::BIGINT) AND (entries.segment_seq, entries.seq) <= (%s::BIGINT, %s::BIGINT) ORDER BY entries.segment_seq, entries.seq
 LIMIT %s::BIGINT) AS anon_1 UNION ALL SELECT anon_2.id, anon_2.parent_id, anon_2.seq, anon_2.timestamp, anon_2.type, anon_2.custom_type, anon_2.payload
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type, entries.payload AS payload
FROM entries
WHERE entries.session_id = %s::VARCHAR COLLATE "C" AND (entries.segment_seq, entries.seq) >= (%s::BIGINT, %s::BIGINT) AND (entries.segment_seq, entries.seq) <= (%s::BIGINT, %s::BIGINT) ORDER BY entries.segment_seq, entries.seq
 LIMIT %s::BIGINT) AS anon_2;

-- branch arms(asc, payload=True, filtered=True), size 1
SELECT entries.id, entries.parent_id, entries.seq, entries.timestamp, entries.type, entries.custom_type, entries.payload
FROM entries
WHERE entries.session_id = %s::VARCHAR COLLATE "C" AND (entries.segment_seq, entries.seq) >= (%s::BIGINT, %s::BIGINT) AND (entries.segment_seq, entries.seq) <= (%s::BIGINT, %s::BIGINT) AND (%s::VARCHAR COLLATE "C" = '' OR entries.type = %s::VARCHAR COLLATE "C") AND (%s::VARCHAR COLLATE "C" = '' OR entries.custom_type = %s::VARCHAR COLLATE "C") ORDER BY entries.segment_seq, entries.seq
 LIMIT %s::BIGINT;

-- branch arms(asc, payload=True, filtered=True), size 2
SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type, anon_1.payload
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type, entries.payload AS payload
FROM entries
WHERE entries.session_id = %s::VARCHAR COLLATE "C" AND (entries.segment_seq, entries.seq) >= (%s::BIGINT, %s::BIGINT) AND (entries.segment_seq, entries.seq) <= (%s::BIGINT, %s::BIGINT) AND (%s::VARCHAR COLLATE "C" = '' OR entries.type = %s::VARCHAR COLLATE "C") AND (%s::VARCHAR COLLATE "C" = '' OR entries.custom_type = %s::VARCHAR COLLATE "C") ORDER BY entries.segment_seq, entries.seq
 LIMIT %s::BIGINT) AS anon_1 UNION ALL SELECT anon_2.id, anon_2.parent_id, anon_2.seq, anon_2.timestamp, anon_2.type, anon_2.custom_type, anon_2.payload
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type, entries.payload AS payload
FROM entries
WHERE entries.session_id = %s::VARCHAR COLLATE "C" AND (entries.segment_seq, entries.seq) >= (%s::BIGINT, %s::BIGINT) AND (entries.segment_seq, entries.seq) <= (%s::BIGINT, %s::BIGINT) AND (%s::VARCHAR COLLATE "C" = '' OR entries.type = %s::VARCHAR COLLATE "C") AND (%s::VARCHAR COLLATE "C" = '' OR entries.custom_type = %s::VARCHAR COLLATE "C") ORDER BY entries.segment_seq, entries.seq
 LIMIT %s::BIGINT) AS anon_2;

-- branch arms(desc, payload=False, filtered=False), size 1
SELECT entries.id, entries.parent_id, entries.seq, entries.timestamp, entries.type, entries.custom_type
FROM entries
WHERE entries.session_id = %s::VARCHAR COLLATE "C" AND (entries.segment_seq, entries.seq) >= (%s::BIGINT, %s::BIGINT) AND (entries.segment_seq, entries.seq) <= (%s::BIGINT, %s::BIGINT) ORDER BY entries.segment_seq DESC, entries.seq DESC
 LIMIT %s::BIGINT;

-- branch arms(desc, payload=False, filtered=False), size 2
SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type
FROM entries
WHERE entries.session_id = %s::VARCHAR COLLATE "C" AND (entries.segment_seq, entries.seq) >= (%s::BIGINT, %s::BIGINT) AND (entries.segment_seq, entries.seq) <= (%s::BIGINT, %s::BIGINT) ORDER BY entries.segment_seq DESC, entries.seq DESC
 LIMIT %s::BIGINT) AS anon_1 UNION ALL SELECT anon_2.id, anon_2.parent_id, anon_2.seq, anon_2.timestamp, anon_2.type, anon_2.custom_type
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type
FROM entries
WHERE entries.session_id = %s::VARCHAR COLLATE "C" AND (entries.segment_seq, entries.seq) >= (%s::BIGINT, %s::BIGINT) AND (entries.segment_seq, entries.seq) <= (%s::BIGINT, %s::BIGINT) ORDER BY entries.segment_seq DESC, entries.seq DESC
 LIMIT %s::BIGINT) AS anon_2;

-- branch arms(desc, payload=False, filtered=True), size 1
SELECT entries.id, entries.parent_id, entries.seq, entries.timestamp, entries.type, entries.custom_type
FROM entries
WHERE entries.session_id = %s::VARCHAR COLLATE "C" AND (entries.segment_seq, entries.seq) >= (%s::BIGINT, %s::BIGINT) AND (entries.segment_seq, entries.seq) <= (%s::BIGINT, %s::BIGINT) AND (%s::VARCHAR COLLATE "C" = '' OR entries.type = %s::VARCHAR COLLATE "C") AND (%s::VARCHAR COLLATE "C" = '' OR entries.custom_type = %s::VARCHAR COLLATE "C") ORDER BY entries.segment_seq DESC, entries.seq DESC
 LIMIT %s::BIGINT;

-- branch arms(desc, payload=False, filtered=True), size 2
SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type
FROM entries
WHERE entries.session_id = %s::VARCHAR COLLATE "C" AND (entries.segment_seq, entries.seq) >= (%s::BIGINT, %s::BIGINT) AND (entries.segment_seq, entries.seq) <= (%s::BIGINT, %s::BIGINT) AND (%s::VARCHAR COLLATE "C" = '' OR entries.type = %s::VARCHAR COLLATE "C") AND (%s::VARCHAR COLLATE "C" = '' OR entries.custom_type = %s::VARCHAR COLLATE "C") ORDER BY entries.segment_seq DESC, entries.seq DESC
 LIMIT %s::BIGINT) AS anon_1 UNION ALL SELECT anon_2.id, anon_2.parent_id, anon_2.seq, anon_2.timestamp, anon_2.type, anon_2.custom_type
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type
FROM entries
WHERE entries.session_id = %s::VARCHAR COLLATE "C" AND (entries.segment_seq, entries.seq) >= (%s::BIGINT, %s::BIGINT) AND (entries.segment_seq, entries.seq) <= (%s::BIGINT, %s::BIGINT) AND (%s::VARCHAR COLLATE "C" = '' OR entries.type = %s::VARCHAR COLLATE "C") AND (%s::VARCHAR COLLATE "C" = '' OR entries.custom_type = %s::VARCHAR COLLATE "C") ORDER BY entries.segment_seq DESC, entries.seq DESC
 LIMIT %s::BIGINT) AS anon_2;

-- branch arms(desc, payload=True, filtered=False), size 1
SELECT entries.id, entries.parent_id, entries.seq, entries.timestamp, entries.type, entries.custom_type, entries.payload
FROM entries
WHERE entries.session_id = %s::VARCHAR COLLATE "C" AND (entries.segment_seq, entries.seq) >= (%s::BIGINT, %s::BIGINT) AND (entries.segment_seq, entries.seq) <= (%s::BIGINT, %s::BIGINT) ORDER BY entries.segment_seq DESC, entries.seq DESC
 LIMIT %s::BIGINT;

-- branch arms(desc, payload=True, filtered=False), size 2
SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type, anon_1.payload
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type, entries.payload AS payload
FROM entries
WHERE entries.session_id = %s::VARCHAR COLLATE "C" AND (entries.segment_seq, entries.seq) >= (%s::BIGINT, %s::BIGINT) AND (entries.segment_seq, entries.seq) <= (%s::BIGINT, %s::BIGINT) ORDER BY entries.segment_seq DESC, entries.seq DESC
 LIMIT %s::BIGINT) AS anon_1 UNION ALL SELECT anon_2.id, anon_2.parent_id, anon_2.seq, anon_2.timestamp, anon_2.type, anon_2.custom_type, anon_2.payload
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type, entries.payload AS payload
FROM entries
WHERE entries.session_id = %s::VARCHAR COLLATE "C" AND (entries.segment_seq, entries.seq) >= (%s::BIGINT, %s::BIGINT) AND (entries.segment_seq, entries.seq) <= (%s::BIGINT, %s::BIGINT) ORDER BY entries.segment_seq DESC, entries.seq DESC
 LIMIT %s::BIGINT) AS anon_2;

-- branch arms(desc, payload=True, filtered=True), size 1
SELECT entries.id, entries.parent_id, entries.seq, entries.timestamp, entries.type, entries.custom_type, entries.payload
FROM entries
WHERE entries.session_id = %s::VARCHAR COLLATE "C" AND (entries.segment_seq, entries.seq) >= (%s::BIGINT, %s::BIGINT) AND (entries.segment_seq, entries.seq) <= (%s::BIGINT, %s::BIGINT) AND (%s::VARCHAR COLLATE "C" = '' OR entries.type = %s::VARCHAR COLLATE "C") AND (%s::VARCHAR COLLATE "C" = '' OR entries.custom_type = %s::VARCHAR COLLATE "C") ORDER BY entries.segment_seq DESC, entries.seq DESC
 LIMIT %s::BIGINT;

-- branch arms(desc, payload=True, filtered=True), size 2
SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type, anon_1.payload
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type, entries.payload AS payload
FROM entries
WHERE entries.session_id = %s::VARCHAR COLLATE "C" AND (entries.segment_seq, entries.seq) >= (%s::BIGINT, %s::BIGINT) AND (entries.segment_seq, entries.seq) <= (%s::BIGINT, %s::BIGINT) AND (%s::VARCHAR COLLATE "C" = '' OR entries.type = %s::VARCHAR COLLATE "C") AND (%s::VARCHAR COLLATE "C" = '' OR entries.custom_type = %s::VARCHAR COLLATE "C") ORDER BY entries.segment_seq DESC, entries.seq DESC
 LIMIT %s::BIGINT) AS anon_1 UNION ALL SELECT anon_2.id, anon_2.parent_id, anon_2.seq, anon_2.timestamp, anon_2.type, anon_2.custom_type, anon_2.payload
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type, entries.payload AS payload
FROM entries
WHERE entries.session_id = %s::VARCHAR COLLATE "C" AND (entries.segment_seq, entries.seq) >= (%s::BIGINT, %s::BIGINT) AND (entries.segment_seq, entries.seq) <= (%s::BIGINT, %s::BIGINT) AND (%s::VARCHAR COLLATE "C" = '' OR entries.type = %s::VARCHAR COLLATE "C") AND (%s::VARCHAR COLLATE "C" = '' OR entries.custom_type = %s::VARCHAR COLLATE "C") ORDER BY entries.segment_seq DESC, entries.seq DESC
 LIMIT %s::BIGINT) AS anon_2;
