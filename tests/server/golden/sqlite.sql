-- schema 1
CREATE TABLE IF NOT EXISTS alembic_version (
	version_num VARCHAR(32) NOT NULL,
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);

-- schema 2
CREATE TABLE sessions (
	id TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	modified_at BIGINT NOT NULL,
	parent_session_id TEXT,
	storage_version INTEGER NOT NULL,
	metadata TEXT,
	message_count BIGINT NOT NULL,
	usage TEXT NOT NULL,
	next_seq BIGINT NOT NULL,
	CONSTRAINT pk_sessions PRIMARY KEY (id)
)
 WITHOUT ROWID;

-- schema 3
CREATE INDEX ix_sessions_created_at_id ON sessions (created_at, id);

-- schema 4
CREATE TABLE entries (
	session_id TEXT NOT NULL,
	id TEXT NOT NULL,
	parent_id TEXT,
	seq BIGINT NOT NULL,
	type TEXT NOT NULL,
	custom_type TEXT,
	timestamp BIGINT NOT NULL,
	payload TEXT NOT NULL,
	segment_seq BIGINT NOT NULL,
	depth BIGINT NOT NULL,
	CONSTRAINT pk_entries PRIMARY KEY (session_id, id),
	CONSTRAINT uq_entries_session_id_seq UNIQUE (session_id, seq),
	CONSTRAINT fk_entries_session_id_sessions FOREIGN KEY(session_id) REFERENCES sessions (id)
)
 WITHOUT ROWID;

-- schema 5
CREATE INDEX ix_entries_session_id_segment_seq_seq ON entries (session_id, segment_seq, seq);

-- schema 6
CREATE TABLE list_values (
	session_id TEXT NOT NULL,
	scope_id TEXT NOT NULL,
	namespace TEXT NOT NULL,
	"key" TEXT NOT NULL,
	seq BIGINT NOT NULL,
	value TEXT NOT NULL,
	tag TEXT,
	CONSTRAINT pk_list_values PRIMARY KEY (session_id, scope_id, namespace, "key", seq),
	CONSTRAINT fk_list_values_session_id_sessions FOREIGN KEY(session_id) REFERENCES sessions (id)
)
 WITHOUT ROWID;

-- schema 7
CREATE TABLE scalar_values (
	session_id TEXT NOT NULL,
	scope_id TEXT NOT NULL,
	namespace TEXT NOT NULL,
	"key" TEXT NOT NULL,
	seq BIGINT NOT NULL,
	value TEXT NOT NULL,
	CONSTRAINT pk_scalar_values PRIMARY KEY (session_id, scope_id, namespace, "key"),
	CONSTRAINT fk_scalar_values_session_id_sessions FOREIGN KEY(session_id) REFERENCES sessions (id)
)
 WITHOUT ROWID;

-- schema 8
CREATE TABLE usage_ledger (
	session_id TEXT NOT NULL,
	id TEXT NOT NULL,
	seq BIGINT NOT NULL,
	entry_id TEXT,
	adjustment BOOLEAN NOT NULL,
	usage TEXT NOT NULL,
	details TEXT,
	CONSTRAINT pk_usage_ledger PRIMARY KEY (session_id, id),
	CONSTRAINT uq_usage_ledger_session_id_seq UNIQUE (session_id, seq),
	CONSTRAINT fk_usage_ledger_session_id_sessions FOREIGN KEY(session_id) REFERENCES sessions (id)
)
 WITHOUT ROWID;

-- schema 9
INSERT INTO alembic_version (version_num) VALUES ('0001');

-- begin_write
BEGIN IMMEDIATE;

-- begin_snapshot
BEGIN;

-- commit
COMMIT;

-- rollback
ROLLBACK;

-- advance_session
UPDATE sessions SET modified_at=?, message_count=?, usage=?, next_seq=? WHERE sessions.id = ?;

-- all_elements
SELECT list_values.scope_id, list_values.namespace, list_values."key", list_values.seq, list_values.value, list_values.tag
FROM list_values
WHERE list_values.session_id = ? ORDER BY list_values.seq;

-- all_entries
SELECT entries.id, entries.parent_id, entries.seq, entries.timestamp, entries.type, entries.custom_type, entries.payload
FROM entries
WHERE entries.session_id = ? ORDER BY entries.seq;

-- all_places
SELECT entries.id, entries.parent_id, entries.seq, entries.segment_seq, entries.depth, entries.type
FROM entries
WHERE entries.session_id = ? ORDER BY entries.seq;

-- all_structure
SELECT entries.id, entries.parent_id, entries.seq, entries.timestamp, entries.type, entries.custom_type
FROM entries
WHERE entries.session_id = ? ORDER BY entries.seq;

-- all_usage
SELECT usage_ledger.id, usage_ledger.seq, usage_ledger.entry_id, usage_ledger.adjustment, usage_ledger.usage, usage_ledger.details
FROM usage_ledger
WHERE usage_ledger.session_id = ? ORDER BY usage_ledger.seq;

-- all_values
SELECT scalar_values.scope_id, scalar_values.namespace, scalar_values."key", scalar_values.seq, scalar_values.value
FROM scalar_values
WHERE scalar_values.session_id = ? ORDER BY scalar_values.seq;

-- append_elements
INSERT INTO list_values (session_id, scope_id, namespace, "key", seq, value, tag) VALUES (?, ?, ?, ?, ?, ?, ?);

-- delete_place[values]
DELETE FROM scalar_values WHERE scalar_values.session_id = ? AND scalar_values.scope_id = ? AND scalar_values.namespace = ? AND scalar_values."key" = ?;

-- delete_place[lists]
DELETE FROM list_values WHERE list_values.session_id = ? AND list_values.scope_id = ? AND list_values.namespace = ? AND list_values."key" = ?;

-- delete_session[0]
DELETE FROM entries WHERE entries.session_id = ?;

-- delete_session[1]
DELETE FROM scalar_values WHERE scalar_values.session_id = ?;

-- delete_session[2]
DELETE FROM list_values WHERE list_values.session_id = ?;

-- delete_session[3]
DELETE FROM usage_ledger WHERE usage_ledger.session_id = ?;

-- delete_session[4]
DELETE FROM sessions WHERE sessions.id = ?;

-- elements_in, two items
SELECT list_values.scope_id, list_values.namespace, list_values."key", list_values.seq, list_values.value, list_values.tag
FROM list_values
WHERE list_values.session_id = ? AND list_values.scope_id = ? AND list_values.namespace IN (?, ?) ORDER BY list_values.seq;

-- entries_by_id, two items
SELECT entries.id, entries.parent_id, entries.seq, entries.timestamp, entries.type, entries.custom_type, entries.payload
FROM entries
WHERE entries.session_id = ? AND entries.id IN (?, ?);

-- find_ids, two items
SELECT entries.id, entries.seq, entries.segment_seq, entries.depth, (SELECT last.seq
FROM entries AS last
WHERE last.session_id = ? AND last.segment_seq = entries.segment_seq AND last.seq >= entries.seq AND last.seq <= 9223372036854775807 ORDER BY last.seq DESC
 LIMIT 1 OFFSET ?) = entries.seq AS ends_segment
FROM entries
WHERE entries.session_id = ? AND entries.id IN (?, ?) UNION ALL SELECT usage_ledger.id, NULL AS anon_1, NULL AS anon__1, NULL AS anon__2, NULL AS anon__3
FROM usage_ledger
WHERE usage_ledger.session_id = ? AND usage_ledger.id IN (?, ?);

-- get_value
SELECT scalar_values.seq, scalar_values.value
FROM scalar_values
WHERE scalar_values.session_id = ? AND scalar_values.scope_id = ? AND scalar_values.namespace = ? AND scalar_values."key" = ?;

-- highest_seqs
SELECT max(entries.seq) AS max_1
FROM entries
WHERE entries.session_id = ? UNION ALL SELECT max(scalar_values.seq) AS max_2
FROM scalar_values
WHERE scalar_values.session_id = ? UNION ALL SELECT max(list_values.seq) AS max_3
FROM list_values
WHERE list_values.session_id = ? UNION ALL SELECT max(usage_ledger.seq) AS max_4
FROM usage_ledger
WHERE usage_ledger.session_id = ?;

-- insert_entries
INSERT INTO entries (session_id, id, parent_id, seq, type, custom_type, timestamp, payload, segment_seq, depth) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- insert_session
INSERT INTO sessions (id, created_at, modified_at, parent_session_id, storage_version, metadata, message_count, usage, next_seq) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?);

-- insert_usage
INSERT INTO usage_ledger (session_id, id, seq, entry_id, adjustment, usage, details) VALUES (?, ?, ?, ?, ?, ?, ?);

-- list_places
SELECT DISTINCT list_values.scope_id, list_values.namespace, list_values."key"
FROM list_values
WHERE list_values.session_id = ? AND list_values.scope_id = ?;

-- lock_session
SELECT sessions.next_seq, sessions.message_count, sessions.usage
FROM sessions
WHERE sessions.id = ? AND sessions.created_at = ?;

-- lock_session_header
SELECT sessions.id, sessions.created_at, sessions.modified_at, sessions.parent_session_id, sessions.storage_version, sessions.metadata
FROM sessions
WHERE sessions.id = ?;

-- place_entry
UPDATE entries SET segment_seq=?, depth=? WHERE entries.session_id = ? AND entries.id = ?;

-- session_header
SELECT sessions.id, sessions.created_at, sessions.modified_at, sessions.parent_session_id, sessions.storage_version, sessions.metadata
FROM sessions
WHERE sessions.id = ?;

-- session_image
SELECT sessions.id, sessions.created_at, sessions.modified_at, sessions.parent_session_id, sessions.storage_version, sessions.metadata, sessions.next_seq, sessions.message_count, sessions.usage
FROM sessions
WHERE sessions.id = ?;

-- session_state
SELECT sessions.next_seq, sessions.message_count, sessions.usage
FROM sessions
WHERE sessions.id = ? AND sessions.created_at = ?;

-- set_derived
UPDATE sessions SET message_count=?, usage=?, next_seq=? WHERE sessions.id = ?;

-- set_values
INSERT INTO scalar_values (session_id, scope_id, namespace, "key", seq, value) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (session_id, scope_id, namespace, "key") DO UPDATE SET seq = excluded.seq, value = excluded.value;

-- take_numbers
UPDATE sessions SET modified_at=?, message_count=(sessions.message_count + ?), next_seq=(sessions.next_seq + ?) WHERE sessions.id = ? AND sessions.created_at = ? RETURNING next_seq, message_count, usage;

-- value_places
SELECT DISTINCT scalar_values.scope_id, scalar_values.namespace, scalar_values."key"
FROM scalar_values
WHERE scalar_values.session_id = ? AND scalar_values.scope_id = ?;

-- values_in, two items
SELECT scalar_values.scope_id, scalar_values.namespace, scalar_values."key", scalar_values.seq, scalar_values.value
FROM scalar_values
WHERE scalar_values.session_id = ? AND scalar_values.scope_id = ? AND scalar_values.namespace IN (?, ?) ORDER BY scalar_values.seq;

-- copy_ranges, size 1
INSERT INTO entries (session_id, id, parent_id, seq, type, custom_type, timestamp, payload, segment_seq, depth) SELECT ? AS anon_1, entries.id, entries.parent_id, entries.seq, entries.type, entries.custom_type, entries.timestamp, entries.payload, ? AS anon_2, entries.depth
FROM entries
WHERE entries.session_id = ? AND entries.segment_seq = ? AND entries.seq >= ? AND entries.seq <= ?;

-- copy_ranges, size 2
INSERT INTO entries (session_id, id, parent_id, seq, type, custom_type, timestamp, payload, segment_seq, depth) SELECT ? AS anon_1, entries.id, entries.parent_id, entries.seq, entries.type, entries.custom_type, entries.timestamp, entries.payload, ? AS anon_2, entries.depth
FROM entries
WHERE entries.session_id = ? AND entries.segment_seq = ? AND entries.seq >= ? AND entries.seq <= ? UNION ALL SELECT ? AS anon_3, entries.id, entries.parent_id, entries.seq, entries.type, entries.custom_type, entries.timestamp, entries.payload, ? AS anon_4, entries.depth
FROM entries
WHERE entries.session_id = ? AND entries.segment_seq = ? AND entries.seq >= ? AND entries.seq <= ?;

-- copy_tree
INSERT INTO entries (session_id, id, parent_id, seq, type, custom_type, timestamp, payload, segment_seq, depth) SELECT ? AS anon_1, entries.id, entries.parent_id, entries.seq, entries.type, entries.custom_type, entries.timestamp, entries.payload, entries.segment_seq, entries.depth
FROM entries
WHERE entries.session_id = ? AND entries.seq < ?;

-- count_messages, size 1
SELECT count(*) AS count_1
FROM entries
WHERE entries.session_id = ? AND entries.segment_seq = ? AND entries.seq >= ? AND entries.seq <= ? AND entries.type = ?;

-- count_messages, size 2
SELECT count(*) AS count_1
FROM entries
WHERE entries.session_id = ? AND entries.segment_seq = ? AND entries.seq >= ? AND entries.seq <= ? AND entries.type = ? UNION ALL SELECT count(*) AS count_2
FROM entries
WHERE entries.session_id = ? AND entries.segment_seq = ? AND entries.seq >= ? AND entries.seq <= ? AND entries.type = ?;

-- list_sessions(after=False, limited=False)
SELECT sessions.id, sessions.created_at, sessions.modified_at, sessions.parent_session_id, sessions.storage_version, sessions.metadata
FROM sessions ORDER BY sessions.created_at DESC, sessions.id;

-- list_sessions(after=False, limited=True)
SELECT sessions.id, sessions.created_at, sessions.modified_at, sessions.parent_session_id, sessions.storage_version, sessions.metadata
FROM sessions ORDER BY sessions.created_at DESC, sessions.id
 LIMIT ? OFFSET ?;

-- list_sessions(after=True, limited=False)
SELECT sessions.id, sessions.created_at, sessions.modified_at, sessions.parent_session_id, sessions.storage_version, sessions.metadata
FROM sessions
WHERE sessions.created_at <= ? AND (sessions.created_at < ? OR sessions.id > ?) ORDER BY sessions.created_at DESC, sessions.id;

-- list_sessions(after=True, limited=True)
SELECT sessions.id, sessions.created_at, sessions.modified_at, sessions.parent_session_id, sessions.storage_version, sessions.metadata
FROM sessions
WHERE sessions.created_at <= ? AND (sessions.created_at < ? OR sessions.id > ?) ORDER BY sessions.created_at DESC, sessions.id
 LIMIT ? OFFSET ?;

-- scan_entries(asc, by_type=False, by_custom_type=False)
SELECT entries.id, entries.parent_id, entries.seq, entries.timestamp, entries.type, entries.custom_type, entries.payload
FROM entries
WHERE entries.session_id = ? AND entries.seq >= ? AND entries.seq <= ? ORDER BY entries.seq
 LIMIT ? OFFSET ?;

-- scan_entries(asc, by_type=False, by_custom_type=True)
SELECT entries.id, entries.parent_id, entries.seq, entries.timestamp, entries.type, entries.custom_type, entries.payload
FROM entries
WHERE entries.session_id = ? AND entries.seq >= ? AND entries.seq <= ? AND entries.custom_type = ? ORDER BY entries.seq
 LIMIT ? OFFSET ?;

-- scan_entries(asc, by_type=True, by_custom_type=False)
SELECT entries.id, entries.parent_id, entries.seq, entries.timestamp, entries.type, entries.custom_type, entries.payload
FROM entries
WHERE entries.session_id = ? AND entries.seq >= ? AND entries.seq <= ? AND entries.type = ? ORDER BY entries.seq
 LIMIT ? OFFSET ?;

-- scan_entries(asc, by_type=True, by_custom_type=True)
SELECT entries.id, entries.parent_id, entries.seq, entries.timestamp, entries.type, entries.custom_type, entries.payload
FROM entries
WHERE entries.session_id = ? AND entries.seq >= ? AND entries.seq <= ? AND entries.type = ? AND entries.custom_type = ? ORDER BY entries.seq
 LIMIT ? OFFSET ?;

-- scan_entries(desc, by_type=False, by_custom_type=False)
SELECT entries.id, entries.parent_id, entries.seq, entries.timestamp, entries.type, entries.custom_type, entries.payload
FROM entries
WHERE entries.session_id = ? AND entries.seq >= ? AND entries.seq <= ? ORDER BY entries.seq DESC
 LIMIT ? OFFSET ?;

-- scan_entries(desc, by_type=False, by_custom_type=True)
SELECT entries.id, entries.parent_id, entries.seq, entries.timestamp, entries.type, entries.custom_type, entries.payload
FROM entries
WHERE entries.session_id = ? AND entries.seq >= ? AND entries.seq <= ? AND entries.custom_type = ? ORDER BY entries.seq DESC
 LIMIT ? OFFSET ?;

-- scan_entries(desc, by_type=True, by_custom_type=False)
SELECT entries.id, entries.parent_id, entries.seq, entries.timestamp, entries.type, entries.custom_type, entries.payload
FROM entries
WHERE entries.session_id = ? AND entries.seq >= ? AND entries.seq <= ? AND entries.type = ? ORDER BY entries.seq DESC
 LIMIT ? OFFSET ?;

-- scan_entries(desc, by_type=True, by_custom_type=True)
SELECT entries.id, entries.parent_id, entries.seq, entries.timestamp, entries.type, entries.custom_type, entries.payload
FROM entries
WHERE entries.session_id = ? AND entries.seq >= ? AND entries.seq <= ? AND entries.type = ? AND entries.custom_type = ? ORDER BY entries.seq DESC
 LIMIT ? OFFSET ?;

-- scan_usage(asc)
SELECT usage_ledger.id, usage_ledger.seq, usage_ledger.entry_id, usage_ledger.adjustment, usage_ledger.usage, usage_ledger.details
FROM usage_ledger
WHERE usage_ledger.session_id = ? AND usage_ledger.seq >= ? AND usage_ledger.seq <= ? ORDER BY usage_ledger.seq
 LIMIT ? OFFSET ?;

-- read_list(asc)
SELECT list_values.seq, list_values.value, list_values.tag
FROM list_values
WHERE list_values.session_id = ? AND list_values.scope_id = ? AND list_values.namespace = ? AND list_values."key" = ? AND list_values.seq > ? ORDER BY list_values.seq
 LIMIT ? OFFSET ?;

-- scan_usage(desc)
SELECT usage_ledger.id, usage_ledger.seq, usage_ledger.entry_id, usage_ledger.adjustment, usage_ledger.usage, usage_ledger.details
FROM usage_ledger
WHERE usage_ledger.session_id = ? AND usage_ledger.seq >= ? AND usage_ledger.seq <= ? ORDER BY usage_ledger.seq DESC
 LIMIT ? OFFSET ?;

-- read_list(desc)
SELECT list_values.seq, list_values.value, list_values.tag
FROM list_values
WHERE list_values.session_id = ? AND list_values.scope_id = ? AND list_values.namespace = ? AND list_values."key" = ? AND list_values.seq < ? ORDER BY list_values.seq DESC
 LIMIT ? OFFSET ?;

-- scan_values(bounded=False)
SELECT scalar_values.scope_id, scalar_values.namespace, scalar_values."key", scalar_values.seq, scalar_values.value
FROM scalar_values
WHERE scalar_values.session_id = ? AND scalar_values.scope_id = ? AND scalar_values.namespace = ? AND scalar_values."key" >= ? ORDER BY scalar_values."key";

-- scan_values(bounded=True)
SELECT scalar_values.scope_id, scalar_values.namespace, scalar_values."key", scalar_values.seq, scalar_values.value
FROM scalar_values
WHERE scalar_values.session_id = ? AND scalar_values.scope_id = ? AND scalar_values.namespace = ? AND scalar_values."key" >= ? AND scalar_values."key" < ? ORDER BY scalar_values."key";

-- delete_places(values, places=2, scopes=0)
DELETE FROM scalar_values WHERE scalar_values.session_id = ? AND scalar_values.scope_id = ? AND scalar_values.namespace = ? AND scalar_values."key" = ? OR scalar_values.session_id = ? AND scalar_values.scope_id = ? AND scalar_values.namespace = ? AND scalar_values."key" = ?;

-- delete_places(values, places=0, scopes=1)
DELETE FROM scalar_values WHERE scalar_values.session_id = ? AND scalar_values.scope_id = ?;

-- delete_places(values, places=2, scopes=1)
DELETE FROM scalar_values WHERE scalar_values.session_id = ? AND scalar_values.scope_id = ? AND scalar_values.namespace = ? AND scalar_values."key" = ? OR scalar_values.session_id = ? AND scalar_values.scope_id = ? AND scalar_values.namespace = ? AND scalar_values."key" = ? OR scalar_values.session_id = ? AND scalar_values.scope_id = ?;

-- delete_places(lists, places=2, scopes=0)
DELETE FROM list_values WHERE list_values.session_id = ? AND list_values.scope_id = ? AND list_values.namespace = ? AND list_values."key" = ? OR list_values.session_id = ? AND list_values.scope_id = ? AND list_values.namespace = ? AND list_values."key" = ?;

-- delete_places(lists, places=0, scopes=1)
DELETE FROM list_values WHERE list_values.session_id = ? AND list_values.scope_id = ?;

-- delete_places(lists, places=2, scopes=1)
DELETE FROM list_values WHERE list_values.session_id = ? AND list_values.scope_id = ? AND list_values.namespace = ? AND list_values."key" = ? OR list_values.session_id = ? AND list_values.scope_id = ? AND list_values.namespace = ? AND list_values."key" = ? OR list_values.session_id = ? AND list_values.scope_id = ?;

-- branch head(asc, payload=False, stops=False, filtered=False)
WITH RECURSIVE chain(round, id, segment_seq, seq, depth, base_depth, stop_seq) AS
(SELECT 0 AS round, start.id AS id, start.segment_seq AS segment_seq, start.seq AS seq, start.depth AS depth, CASE WHEN (start.seq < ?) THEN start.depth END AS base_depth, CAST(NULL AS BIGINT) AS stop_seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ? UNION ALL SELECT chain.round + 1 AS round, parent.id AS id, parent.segment_seq AS segment_seq, parent.seq AS seq, parent.depth AS depth, CASE WHEN (chain.base_depth IS NOT NULL) THEN chain.base_depth WHEN (parent.seq < ?) THEN parent.depth END AS base_depth, CAST(NULL AS BIGINT) AS stop_seq
FROM chain JOIN entries AS first ON first.session_id = ? AND first.seq = chain.segment_seq JOIN entries AS parent ON parent.session_id = ? AND parent.id = first.parent_id
WHERE chain.round < 989 AND parent.seq > ? AND (chain.base_depth IS NULL OR chain.base_depth - parent.depth < ?))
 SELECT chain.id, CAST(chain.depth AS TEXT) AS parent_id, -1 - chain.round AS seq, chain.seq AS timestamp, CAST(chain.segment_seq AS TEXT) AS type, CAST(chain.stop_seq AS TEXT) AS custom_type
FROM chain UNION ALL SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type
FROM entries
WHERE entries.session_id = ? AND entries.segment_seq = (SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ?) AND entries.seq >= ? AND entries.seq <= (SELECT start.seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ?) ORDER BY entries.seq
 LIMIT ? OFFSET ?) AS anon_1;

-- branch head(asc, payload=False, stops=False, filtered=True)
WITH RECURSIVE chain(round, id, segment_seq, seq, depth, base_depth, stop_seq) AS
(SELECT 0 AS round, start.id AS id, start.segment_seq AS segment_seq, start.seq AS seq, start.depth AS depth, CASE WHEN (start.seq < ?) THEN start.depth END AS base_depth, CAST(NULL AS BIGINT) AS stop_seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ? UNION ALL SELECT chain.round + 1 AS round, parent.id AS id, parent.segment_seq AS segment_seq, parent.seq AS seq, parent.depth AS depth, CASE WHEN (chain.base_depth IS NOT NULL) THEN chain.base_depth WHEN (parent.seq < ?) THEN parent.depth END AS base_depth, CAST(NULL AS BIGINT) AS stop_seq
FROM chain JOIN entries AS first ON first.session_id = ? AND first.seq = chain.segment_seq JOIN entries AS parent ON parent.session_id = ? AND parent.id = first.parent_id
WHERE chain.round < 989 AND parent.seq > ? AND (chain.base_depth IS NULL OR chain.base_depth - parent.depth < ?))
 SELECT chain.id, CAST(chain.depth AS TEXT) AS parent_id, -1 - chain.round AS seq, chain.seq AS timestamp, CAST(chain.segment_seq AS TEXT) AS type, CAST(chain.stop_seq AS TEXT) AS custom_type
FROM chain UNION ALL SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type
FROM entries
WHERE entries.session_id = ? AND entries.segment_seq = (SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ?) AND entries.seq >= ? AND entries.seq <= (SELECT start.seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ?) AND (? = '' OR entries.type = ?) AND (? = '' OR entries.custom_type = ?) ORDER BY entries.seq
 LIMIT ? OFFSET ?) AS anon_1;

-- branch head(asc, payload=False, stops=True, filtered=False)
WITH RECURSIVE chain(round, id, segment_seq, seq, depth, base_depth, stop_seq) AS
(SELECT 0 AS round, start.id AS id, start.segment_seq AS segment_seq, start.seq AS seq, start.depth AS depth, CASE WHEN (start.seq < ?) THEN start.depth END AS base_depth, (SELECT stop.seq
FROM entries AS stop
WHERE stop.session_id = ? AND stop.segment_seq = start.segment_seq AND stop.seq >= 0 AND stop.seq <= start.seq AND (stop.type = ? OR stop.id = ?) ORDER BY stop.seq
 LIMIT 1 OFFSET ?) AS stop_seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ? UNION ALL SELECT chain.round + 1 AS round, parent.id AS id, parent.segment_seq AS segment_seq, parent.seq AS seq, parent.depth AS depth, CASE WHEN (chain.base_depth IS NOT NULL) THEN chain.base_depth WHEN (parent.seq < ?) THEN parent.depth END AS base_depth, (SELECT stop.seq
FROM entries AS stop
WHERE stop.session_id = ? AND stop.segment_seq = parent.segment_seq AND stop.seq >= 0 AND stop.seq <= parent.seq AND (stop.type = ? OR stop.id = ?) ORDER BY stop.seq
 LIMIT 1 OFFSET ?) AS stop_seq
FROM chain JOIN entries AS first ON first.session_id = ? AND first.seq = chain.segment_seq JOIN entries AS parent ON parent.session_id = ? AND parent.id = first.parent_id
WHERE chain.round < 989 AND parent.seq > ? AND (chain.base_depth IS NULL OR chain.base_depth - parent.depth < ?))
 SELECT chain.id, CAST(chain.depth AS TEXT) AS parent_id, -1 - chain.round AS seq, chain.seq AS timestamp, CAST(chain.segment_seq AS TEXT) AS type, CAST(chain.stop_seq AS TEXT) AS custom_type
FROM chain UNION ALL SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type
FROM entries
WHERE entries.session_id = ? AND entries.segment_seq = (SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ?) AND entries.seq >= ? AND entries.seq <= coalesce((SELECT stop.seq
FROM entries AS stop
WHERE stop.session_id = ? AND stop.segment_seq = (SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ?) AND stop.seq >= 0 AND stop.seq <= (SELECT start.seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ?) AND (stop.type = ? OR stop.id = ?) ORDER BY stop.seq
 LIMIT 1 OFFSET ?), (SELECT start.seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ?)) ORDER BY entries.seq
 LIMIT ? OFFSET ?) AS anon_1;

-- branch head(asc, payload=False, stops=True, filtered=True)
WITH RECURSIVE chain(round, id, segment_seq, seq, depth, base_depth, stop_seq) AS
(SELECT 0 AS round, start.id AS id, start.segment_seq AS segment_seq, start.seq AS seq, start.depth AS depth, CASE WHEN (start.seq < ?) THEN start.depth END AS base_depth, (SELECT stop.seq
FROM entries AS stop
WHERE stop.session_id = ? AND stop.segment_seq = start.segment_seq AND stop.seq >= 0 AND stop.seq <= start.seq AND (stop.type = ? OR stop.id = ?) ORDER BY stop.seq
 LIMIT 1 OFFSET ?) AS stop_seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ? UNION ALL SELECT chain.round + 1 AS round, parent.id AS id, parent.segment_seq AS segment_seq, parent.seq AS seq, parent.depth AS depth, CASE WHEN (chain.base_depth IS NOT NULL) THEN chain.base_depth WHEN (parent.seq < ?) THEN parent.depth END AS base_depth, (SELECT stop.seq
FROM entries AS stop
WHERE stop.session_id = ? AND stop.segment_seq = parent.segment_seq AND stop.seq >= 0 AND stop.seq <= parent.seq AND (stop.type = ? OR stop.id = ?) ORDER BY stop.seq
 LIMIT 1 OFFSET ?) AS stop_seq
FROM chain JOIN entries AS first ON first.session_id = ? AND first.seq = chain.segment_seq JOIN entries AS parent ON parent.session_id = ? AND parent.id = first.parent_id
WHERE chain.round < 989 AND parent.seq > ? AND (chain.base_depth IS NULL OR chain.base_depth - parent.depth < ?))
 SELECT chain.id, CAST(chain.depth AS TEXT) AS parent_id, -1 - chain.round AS seq, chain.seq AS timestamp, CAST(chain.segment_seq AS TEXT) AS type, CAST(chain.stop_seq AS TEXT) AS custom_type
FROM chain UNION ALL SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type
FROM entries
WHERE entries.session_id = ? AND entries.segment_seq = (SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ?) AND entries.seq >= ? AND entries.seq <= coalesce((SELECT stop.seq
FROM entries AS stop
WHERE stop.session_id = ? AND stop.segment_seq = (SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ?) AND stop.seq >= 0 AND stop.seq <= (SELECT start.seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ?) AND (stop.type = ? OR stop.id = ?) ORDER BY stop.seq
 LIMIT 1 OFFSET ?), (SELECT start.seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ?)) AND (? = '' OR entries.type = ?) AND (? = '' OR entries.custom_type = ?) ORDER BY entries.seq
 LIMIT ? OFFSET ?) AS anon_1;

-- branch head(asc, payload=True, stops=False, filtered=False)
WITH RECURSIVE chain(round, id, segment_seq, seq, depth, base_depth, stop_seq) AS
(SELECT 0 AS round, start.id AS id, start.segment_seq AS segment_seq, start.seq AS seq, start.depth AS depth, CASE WHEN (start.seq < ?) THEN start.depth END AS base_depth, CAST(NULL AS BIGINT) AS stop_seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ? UNION ALL SELECT chain.round + 1 AS round, parent.id AS id, parent.segment_seq AS segment_seq, parent.seq AS seq, parent.depth AS depth, CASE WHEN (chain.base_depth IS NOT NULL) THEN chain.base_depth WHEN (parent.seq < ?) THEN parent.depth END AS base_depth, CAST(NULL AS BIGINT) AS stop_seq
FROM chain JOIN entries AS first ON first.session_id = ? AND first.seq = chain.segment_seq JOIN entries AS parent ON parent.session_id = ? AND parent.id = first.parent_id
WHERE chain.round < 989 AND parent.seq > ? AND (chain.base_depth IS NULL OR chain.base_depth - parent.depth < ?))
 SELECT chain.id, CAST(chain.depth AS TEXT) AS parent_id, -1 - chain.round AS seq, chain.seq AS timestamp, CAST(chain.segment_seq AS TEXT) AS type, CAST(chain.stop_seq AS TEXT) AS custom_type, NULL AS payload
FROM chain UNION ALL SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type, anon_1.payload
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type, entries.payload AS payload
FROM entries
WHERE entries.session_id = ? AND entries.segment_seq = (SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ?) AND entries.seq >= ? AND entries.seq <= (SELECT start.seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ?) ORDER BY entries.seq
 LIMIT ? OFFSET ?) AS anon_1;

-- branch head(asc, payload=True, stops=False, filtered=True)
WITH RECURSIVE chain(round, id, segment_seq, seq, depth, base_depth, stop_seq) AS
(SELECT 0 AS round, start.id AS id, start.segment_seq AS segment_seq, start.seq AS seq, start.depth AS depth, CASE WHEN (start.seq < ?) THEN start.depth END AS base_depth, CAST(NULL AS BIGINT) AS stop_seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ? UNION ALL SELECT chain.round + 1 AS round, parent.id AS id, parent.segment_seq AS segment_seq, parent.seq AS seq, parent.depth AS depth, CASE WHEN (chain.base_depth IS NOT NULL) THEN chain.base_depth WHEN (parent.seq < ?) THEN parent.depth END AS base_depth, CAST(NULL AS BIGINT) AS stop_seq
FROM chain JOIN entries AS first ON first.session_id = ? AND first.seq = chain.segment_seq JOIN entries AS parent ON parent.session_id = ? AND parent.id = first.parent_id
WHERE chain.round < 989 AND parent.seq > ? AND (chain.base_depth IS NULL OR chain.base_depth - parent.depth < ?))
 SELECT chain.id, CAST(chain.depth AS TEXT) AS parent_id, -1 - chain.round AS seq, chain.seq AS timestamp, CAST(chain.segment_seq AS TEXT) AS type, CAST(chain.stop_seq AS TEXT) AS custom_type, NULL AS payload
FROM chain UNION ALL SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type, anon_1.payload
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type, entries.payload AS payload
FROM entries
WHERE entries.session_id = ? AND entries.segment_seq = (SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ?) AND entries.seq >= ? AND entries.seq <= (SELECT start.seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ?) AND (? = '' OR entries.type = ?) AND (? = '' OR entries.custom_type = ?) ORDER BY entries.seq
 LIMIT ? OFFSET ?) AS anon_1;

-- branch head(asc, payload=True, stops=True, filtered=False)
WITH RECURSIVE chain(round, id, segment_seq, seq, depth, base_depth, stop_seq) AS
(SELECT 0 AS round, start.id AS id, start.segment_seq AS segment_seq, start.seq AS seq, start.depth AS depth, CASE WHEN (start.seq < ?) THEN start.depth END AS base_depth, (SELECT stop.seq
FROM entries AS stop
WHERE stop.session_id = ? AND stop.segment_seq = start.segment_seq AND stop.seq >= 0 AND stop.seq <= start.seq AND (stop.type = ? OR stop.id = ?) ORDER BY stop.seq
 LIMIT 1 OFFSET ?) AS stop_seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ? UNION ALL SELECT chain.round + 1 AS round, parent.id AS id, parent.segment_seq AS segment_seq, parent.seq AS seq, parent.depth AS depth, CASE WHEN (chain.base_depth IS NOT NULL) THEN chain.base_depth WHEN (parent.seq < ?) THEN parent.depth END AS base_depth, (SELECT stop.seq
FROM entries AS stop
WHERE stop.session_id = ? AND stop.segment_seq = parent.segment_seq AND stop.seq >= 0 AND stop.seq <= parent.seq AND (stop.type = ? OR stop.id = ?) ORDER BY stop.seq
 LIMIT 1 OFFSET ?) AS stop_seq
FROM chain JOIN entries AS first ON first.session_id = ? AND first.seq = chain.segment_seq JOIN entries AS parent ON parent.session_id = ? AND parent.id = first.parent_id
WHERE chain.round < 989 AND parent.seq > ? AND (chain.base_depth IS NULL OR chain.base_depth - parent.depth < ?))
 SELECT chain.id, CAST(chain.depth AS TEXT) AS parent_id, -1 - chain.round AS seq, chain.seq AS timestamp, CAST(chain.segment_seq AS TEXT) AS type, CAST(chain.stop_seq AS TEXT) AS custom_type, NULL AS payload
FROM chain UNION ALL SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type, anon_1.payload
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type, entries.payload AS payload
FROM entries
WHERE entries.session_id = ? AND entries.segment_seq = (SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ?) AND entries.seq >= ? AND entries.seq <= coalesce((SELECT stop.seq
FROM entries AS stop
WHERE stop.session_id = ? AND stop.segment_seq = (SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ?) AND stop.seq >= 0 AND stop.seq <= (SELECT start.seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ?) AND (stop.type = ? OR stop.id = ?) ORDER BY stop.seq
 LIMIT 1 OFFSET ?), (SELECT start.seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ?)) ORDER BY entries.seq
 LIMIT ? OFFSET ?) AS anon_1;

-- branch head(asc, payload=True, stops=True, filtered=True)
WITH RECURSIVE chain(round, id, segment_seq, seq, depth, base_depth, stop_seq) AS
(SELECT 0 AS round, start.id AS id, start.segment_seq AS segment_seq, start.seq AS seq, start.depth AS depth, CASE WHEN (start.seq < ?) THEN start.depth END AS base_depth, (SELECT stop.seq
FROM entries AS stop
WHERE stop.session_id = ? AND stop.segment_seq = start.segment_seq AND stop.seq >= 0 AND stop.seq <= start.seq AND (stop.type = ? OR stop.id = ?) ORDER BY stop.seq
 LIMIT 1 OFFSET ?) AS stop_seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ? UNION ALL SELECT chain.round + 1 AS round, parent.id AS id, parent.segment_seq AS segment_seq, parent.seq AS seq, parent.depth AS depth, CASE WHEN (chain.base_depth IS NOT NULL) THEN chain.base_depth WHEN (parent.seq < ?) THEN parent.depth END AS base_depth, (SELECT stop.seq
FROM entries AS stop
WHERE stop.session_id = ? AND stop.segment_seq = parent.segment_seq AND stop.seq >= 0 AND stop.seq <= parent.seq AND (stop.type = ? OR stop.id = ?) ORDER BY stop.seq
 LIMIT 1 OFFSET ?) AS stop_seq
FROM chain JOIN entries AS first ON first.session_id = ? AND first.seq = chain.segment_seq JOIN entries AS parent ON parent.session_id = ? AND parent.id = first.parent_id
WHERE chain.round < 989 AND parent.seq > ? AND (chain.base_depth IS NULL OR chain.base_depth - parent.depth < ?))
 SELECT chain.id, CAST(chain.depth AS TEXT) AS parent_id, -1 - chain.round AS seq, chain.seq AS timestamp, CAST(chain.segment_seq AS TEXT) AS type, CAST(chain.stop_seq AS TEXT) AS custom_type, NULL AS payload
FROM chain UNION ALL SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type, anon_1.payload
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type, entries.payload AS payload
FROM entries
WHERE entries.session_id = ? AND entries.segment_seq = (SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ?) AND entries.seq >= ? AND entries.seq <= coalesce((SELECT stop.seq
FROM entries AS stop
WHERE stop.session_id = ? AND stop.segment_seq = (SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ?) AND stop.seq >= 0 AND stop.seq <= (SELECT start.seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ?) AND (stop.type = ? OR stop.id = ?) ORDER BY stop.seq
 LIMIT 1 OFFSET ?), (SELECT start.seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ?)) AND (? = '' OR entries.type = ?) AND (? = '' OR entries.custom_type = ?) ORDER BY entries.seq
 LIMIT ? OFFSET ?) AS anon_1;

-- branch head(desc, payload=False, stops=False, filtered=False)
WITH RECURSIVE chain(round, id, segment_seq, seq, depth, base_depth, stop_seq) AS
(SELECT 0 AS round, start.id AS id, start.segment_seq AS segment_seq, start.seq AS seq, start.depth AS depth, CASE WHEN (start.seq < ?) THEN start.depth END AS base_depth, CAST(NULL AS BIGINT) AS stop_seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ? UNION ALL SELECT chain.round + 1 AS round, parent.id AS id, parent.segment_seq AS segment_seq, parent.seq AS seq, parent.depth AS depth, CASE WHEN (chain.base_depth IS NOT NULL) THEN chain.base_depth WHEN (parent.seq < ?) THEN parent.depth END AS base_depth, CAST(NULL AS BIGINT) AS stop_seq
FROM chain JOIN entries AS first ON first.session_id = ? AND first.seq = chain.segment_seq JOIN entries AS parent ON parent.session_id = ? AND parent.id = first.parent_id
WHERE chain.round < 989 AND parent.seq > ? AND (chain.base_depth IS NULL OR chain.base_depth - parent.depth < ?))
 SELECT chain.id, CAST(chain.depth AS TEXT) AS parent_id, -1 - chain.round AS seq, chain.seq AS timestamp, CAST(chain.segment_seq AS TEXT) AS type, CAST(chain.stop_seq AS TEXT) AS custom_type
FROM chain UNION ALL SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type
FROM entries
WHERE entries.session_id = ? AND entries.segment_seq = (SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ?) AND entries.seq >= ? AND entries.seq <= CASE WHEN ((SELECT start.seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ?) < ?) THEN (SELECT start.seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ?) ELSE ? - 1 END ORDER BY entries.seq DESC
 LIMIT ? OFFSET ?) AS anon_1;

-- branch head(desc, payload=False, stops=False, filtered=True)
WITH RECURSIVE chain(round, id, segment_seq, seq, depth, base_depth, stop_seq) AS
(SELECT 0 AS round, start.id AS id, start.segment_seq AS segment_seq, start.seq AS seq, start.depth AS depth, CASE WHEN (start.seq < ?) THEN start.depth END AS base_depth, CAST(NULL AS BIGINT) AS stop_seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ? UNION ALL SELECT chain.round + 1 AS round, parent.id AS id, parent.segment_seq AS segment_seq, parent.seq AS seq, parent.depth AS depth, CASE WHEN (chain.base_depth IS NOT NULL) THEN chain.base_depth WHEN (parent.seq < ?) THEN parent.depth END AS base_depth, CAST(NULL AS BIGINT) AS stop_seq
FROM chain JOIN entries AS first ON first.session_id = ? AND first.seq = chain.segment_seq JOIN entries AS parent ON parent.session_id = ? AND parent.id = first.parent_id
WHERE chain.round < 989 AND parent.seq > ? AND (chain.base_depth IS NULL OR chain.base_depth - parent.depth < ?))
 SELECT chain.id, CAST(chain.depth AS TEXT) AS parent_id, -1 - chain.round AS seq, chain.seq AS timestamp, CAST(chain.segment_seq AS TEXT) AS type, CAST(chain.stop_seq AS TEXT) AS custom_type
FROM chain UNION ALL SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type
FROM entries
WHERE entries.session_id = ? AND entries.segment_seq = (SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ?) AND entries.seq >= ? AND entries.seq <= CASE WHEN ((SELECT start.seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ?) < ?) THEN (SELECT start.seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ?) ELSE ? - 1 END AND (? = '' OR entries.type = ?) AND (? = '' OR entries.custom_type = ?) ORDER BY entries.seq DESC
 LIMIT ? OFFSET ?) AS anon_1;

-- branch head(desc, payload=False, stops=True, filtered=False)
WITH RECURSIVE chain(round, id, segment_seq, seq, depth, base_depth, stop_seq) AS
(SELECT 0 AS round, start.id AS id, start.segment_seq AS segment_seq, start.seq AS seq, start.depth AS depth, CASE WHEN (start.seq < ?) THEN start.depth END AS base_depth, (SELECT stop.seq
FROM entries AS stop
WHERE stop.session_id = ? AND stop.segment_seq = start.segment_seq AND stop.seq >= 0 AND stop.seq <= start.seq AND (stop.type = ? OR stop.id = ?) ORDER BY stop.seq DESC
 LIMIT 1 OFFSET ?) AS stop_seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ? UNION ALL SELECT chain.round + 1 AS round, parent.id AS id, parent.segment_seq AS segment_seq, parent.seq AS seq, parent.depth AS depth, CASE WHEN (chain.base_depth IS NOT NULL) THEN chain.base_depth WHEN (parent.seq < ?) THEN parent.depth END AS base_depth, (SELECT stop.seq
FROM entries AS stop
WHERE stop.session_id = ? AND stop.segment_seq = parent.segment_seq AND stop.seq >= 0 AND stop.seq <= parent.seq AND (stop.type = ? OR stop.id = ?) ORDER BY stop.seq DESC
 LIMIT 1 OFFSET ?) AS stop_seq
FROM chain JOIN entries AS first ON first.session_id = ? AND first.seq = chain.segment_seq JOIN entries AS parent ON parent.session_id = ? AND parent.id = first.parent_id
WHERE chain.round < 989 AND parent.seq > ? AND (chain.base_depth IS NULL OR chain.base_depth - parent.depth < ?) AND chain.stop_seq IS NULL)
 SELECT chain.id, CAST(chain.depth AS TEXT) AS parent_id, -1 - chain.round AS seq, chain.seq AS timestamp, CAST(chain.segment_seq AS TEXT) AS type, CAST(chain.stop_seq AS TEXT) AS custom_type
FROM chain UNION ALL SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type
FROM entries
WHERE entries.session_id = ? AND entries.segment_seq = (SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ?) AND entries.seq >= coalesce((SELECT stop.seq
FROM entries AS stop
WHERE stop.session_id = ? AND stop.segment_seq = (SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ?) AND stop.seq >= 0 AND stop.seq <= (SELECT start.seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ?) AND (stop.type = ? OR stop.id = ?) ORDER BY stop.seq DESC
 LIMIT 1 OFFSET ?), ?) AND entries.seq <= CASE WHEN ((SELECT start.seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ?) < ?) THEN (SELECT start.seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ?) ELSE ? - 1 END ORDER BY entries.seq DESC
 LIMIT ? OFFSET ?) AS anon_1;

-- branch head(desc, payload=False, stops=True, filtered=True)
WITH RECURSIVE chain(round, id, segment_seq, seq, depth, base_depth, stop_seq) AS
(SELECT 0 AS round, start.id AS id, start.segment_seq AS segment_seq, start.seq AS seq, start.depth AS depth, CASE WHEN (start.seq < ?) THEN start.depth END AS base_depth, (SELECT stop.seq
FROM entries AS stop
WHERE stop.session_id = ? AND stop.segment_seq = start.segment_seq AND stop.seq >= 0 AND stop.seq <= start.seq AND (stop.type = ? OR stop.id = ?) ORDER BY stop.seq DESC
 LIMIT 1 OFFSET ?) AS stop_seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ? UNION ALL SELECT chain.round + 1 AS round, parent.id AS id, parent.segment_seq AS segment_seq, parent.seq AS seq, parent.depth AS depth, CASE WHEN (chain.base_depth IS NOT NULL) THEN chain.base_depth WHEN (parent.seq < ?) THEN parent.depth END AS base_depth, (SELECT stop.seq
FROM entries AS stop
WHERE stop.session_id = ? AND stop.segment_seq = parent.segment_seq AND stop.seq >= 0 AND stop.seq <= parent.seq AND (stop.type = ? OR stop.id = ?) ORDER BY stop.seq DESC
 LIMIT 1 OFFSET ?) AS stop_seq
FROM chain JOIN entries AS first ON first.session_id = ? AND first.seq = chain.segment_seq JOIN entries AS parent ON parent.session_id = ? AND parent.id = first.parent_id
WHERE chain.round < 989 AND parent.seq > ? AND (chain.base_depth IS NULL OR chain.base_depth - parent.depth < ?) AND chain.stop_seq IS NULL)
 SELECT chain.id, CAST(chain.depth AS TEXT) AS parent_id, -1 - chain.round AS seq, chain.seq AS timestamp, CAST(chain.segment_seq AS TEXT) AS type, CAST(chain.stop_seq AS TEXT) AS custom_type
FROM chain UNION ALL SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type
FROM entries
WHERE entries.session_id = ? AND entries.segment_seq = (SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ?) AND entries.seq >= coalesce((SELECT stop.seq
FROM entries AS stop
WHERE stop.session_id = ? AND stop.segment_seq = (SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ?) AND stop.seq >= 0 AND stop.seq <= (SELECT start.seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ?) AND (stop.type = ? OR stop.id = ?) ORDER BY stop.seq DESC
 LIMIT 1 OFFSET ?), ?) AND entries.seq <= CASE WHEN ((SELECT start.seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ?) < ?) THEN (SELECT start.seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ?) ELSE ? - 1 END AND (? = '' OR entries.type = ?) AND (? = '' OR entries.custom_type = ?) ORDER BY entries.seq DESC
 LIMIT ? OFFSET ?) AS anon_1;

-- branch head(desc, payload=True, stops=False, filtered=False)
WITH RECURSIVE chain(round, id, segment_seq, seq, depth, base_depth, stop_seq) AS
(SELECT 0 AS round, start.id AS id, start.segment_seq AS segment_seq, start.seq AS seq, start.depth AS depth, CASE WHEN (start.seq < ?) THEN start.depth END AS base_depth, CAST(NULL AS BIGINT) AS stop_seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ? UNION ALL SELECT chain.round + 1 AS round, parent.id AS id, parent.segment_seq AS segment_seq, parent.seq AS seq, parent.depth AS depth, CASE WHEN (chain.base_depth IS NOT NULL) THEN chain.base_depth WHEN (parent.seq < ?) THEN parent.depth END AS base_depth, CAST(NULL AS BIGINT) AS stop_seq
FROM chain JOIN entries AS first ON first.session_id = ? AND first.seq = chain.segment_seq JOIN entries AS parent ON parent.session_id = ? AND parent.id = first.parent_id
WHERE chain.round < 989 AND parent.seq > ? AND (chain.base_depth IS NULL OR chain.base_depth - parent.depth < ?))
 SELECT chain.id, CAST(chain.depth AS TEXT) AS parent_id, -1 - chain.round AS seq, chain.seq AS timestamp, CAST(chain.segment_seq AS TEXT) AS type, CAST(chain.stop_seq AS TEXT) AS custom_type, NULL AS payload
FROM chain UNION ALL SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type, anon_1.payload
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type, entries.payload AS payload
FROM entries
WHERE entries.session_id = ? AND entries.segment_seq = (SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ?) AND entries.seq >= ? AND entries.seq <= CASE WHEN ((SELECT start.seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ?) < ?) THEN (SELECT start.seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ?) ELSE ? - 1 END ORDER BY entries.seq DESC
 LIMIT ? OFFSET ?) AS anon_1;

-- branch head(desc, payload=True, stops=False, filtered=True)
WITH RECURSIVE chain(round, id, segment_seq, seq, depth, base_depth, stop_seq) AS
(SELECT 0 AS round, start.id AS id, start.segment_seq AS segment_seq, start.seq AS seq, start.depth AS depth, CASE WHEN (start.seq < ?) THEN start.depth END AS base_depth, CAST(NULL AS BIGINT) AS stop_seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ? UNION ALL SELECT chain.round + 1 AS round, parent.id AS id, parent.segment_seq AS segment_seq, parent.seq AS seq, parent.depth AS depth, CASE WHEN (chain.base_depth IS NOT NULL) THEN chain.base_depth WHEN (parent.seq < ?) THEN parent.depth END AS base_depth, CAST(NULL AS BIGINT) AS stop_seq
FROM chain JOIN entries AS first ON first.session_id = ? AND first.seq = chain.segment_seq JOIN entries AS parent ON parent.session_id = ? AND parent.id = first.parent_id
WHERE chain.round < 989 AND parent.seq > ? AND (chain.base_depth IS NULL OR chain.base_depth - parent.depth < ?))
 SELECT chain.id, CAST(chain.depth AS TEXT) AS parent_id, -1 - chain.round AS seq, chain.seq AS timestamp, CAST(chain.segment_seq AS TEXT) AS type, CAST(chain.stop_seq AS TEXT) AS custom_type, NULL AS payload
FROM chain UNION ALL SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type, anon_1.payload
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type, entries.payload AS payload
FROM entries
WHERE entries.session_id = ? AND entries.segment_seq = (SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ?) AND entries.seq >= ? AND entries.seq <= CASE WHEN ((SELECT start.seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ?) < ?) THEN (SELECT start.seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ?) ELSE ? - 1 END AND (? = '' OR entries.type = ?) AND (? = '' OR entries.custom_type = ?) ORDER BY entries.seq DESC
 LIMIT ? OFFSET ?) AS anon_1;

-- branch head(desc, payload=True, stops=True, filtered=False)
WITH RECURSIVE chain(round, id, segment_seq, seq, depth, base_depth, stop_seq) AS
(SELECT 0 AS round, start.id AS id, start.segment_seq AS segment_seq, start.seq AS seq, start.depth AS depth, CASE WHEN (start.seq < ?) THEN start.depth END AS base_depth, (SELECT stop.seq
FROM entries AS stop
WHERE stop.session_id = ? AND stop.segment_seq = start.segment_seq AND stop.seq >= 0 AND stop.seq <= start.seq AND (stop.type = ? OR stop.id = ?) ORDER BY stop.seq DESC
 LIMIT 1 OFFSET ?) AS stop_seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ? UNION ALL SELECT chain.round + 1 AS round, parent.id AS id, parent.segment_seq AS segment_seq, parent.seq AS seq, parent.depth AS depth, CASE WHEN (chain.base_depth IS NOT NULL) THEN chain.base_depth WHEN (parent.seq < ?) THEN parent.depth END AS base_depth, (SELECT stop.seq
FROM entries AS stop
WHERE stop.session_id = ? AND stop.segment_seq = parent.segment_seq AND stop.seq >= 0 AND stop.seq <= parent.seq AND (stop.type = ? OR stop.id = ?) ORDER BY stop.seq DESC
 LIMIT 1 OFFSET ?) AS stop_seq
FROM chain JOIN entries AS first ON first.session_id = ? AND first.seq = chain.segment_seq JOIN entries AS parent ON parent.session_id = ? AND parent.id = first.parent_id
WHERE chain.round < 989 AND parent.seq > ? AND (chain.base_depth IS NULL OR chain.base_depth - parent.depth < ?) AND chain.stop_seq IS NULL)
 SELECT chain.id, CAST(chain.depth AS TEXT) AS parent_id, -1 - chain.round AS seq, chain.seq AS timestamp, CAST(chain.segment_seq AS TEXT) AS type, CAST(chain.stop_seq AS TEXT) AS custom_type, NULL AS payload
FROM chain UNION ALL SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type, anon_1.payload
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type, entries.payload AS payload
FROM entries
WHERE entries.session_id = ? AND entries.segment_seq = (SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ?) AND entries.seq >= coalesce((SELECT stop.seq
FROM entries AS stop
WHERE stop.session_id = ? AND stop.segment_seq = (SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ?) AND stop.seq >= 0 AND stop.seq <= (SELECT start.seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ?) AND (stop.type = ? OR stop.id = ?) ORDER BY stop.seq DESC
 LIMIT 1 OFFSET ?), ?) AND entries.seq <= CASE WHEN ((SELECT start.seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ?) < ?) THEN (SELECT start.seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ?) ELSE ? - 1 END ORDER BY entries.seq DESC
 LIMIT ? OFFSET ?) AS anon_1;

-- branch head(desc, payload=True, stops=True, filtered=True)
WITH RECURSIVE chain(round, id, segment_seq, seq, depth, base_depth, stop_seq) AS
(SELECT 0 AS round, start.id AS id, start.segment_seq AS segment_seq, start.seq AS seq, start.depth AS depth, CASE WHEN (start.seq < ?) THEN start.depth END AS base_depth, (SELECT stop.seq
FROM entries AS stop
WHERE stop.session_id = ? AND stop.segment_seq = start.segment_seq AND stop.seq >= 0 AND stop.seq <= start.seq AND (stop.type = ? OR stop.id = ?) ORDER BY stop.seq DESC
 LIMIT 1 OFFSET ?) AS stop_seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ? UNION ALL SELECT chain.round + 1 AS round, parent.id AS id, parent.segment_seq AS segment_seq, parent.seq AS seq, parent.depth AS depth, CASE WHEN (chain.base_depth IS NOT NULL) THEN chain.base_depth WHEN (parent.seq < ?) THEN parent.depth END AS base_depth, (SELECT stop.seq
FROM entries AS stop
WHERE stop.session_id = ? AND stop.segment_seq = parent.segment_seq AND stop.seq >= 0 AND stop.seq <= parent.seq AND (stop.type = ? OR stop.id = ?) ORDER BY stop.seq DESC
 LIMIT 1 OFFSET ?) AS stop_seq
FROM chain JOIN entries AS first ON first.session_id = ? AND first.seq = chain.segment_seq JOIN entries AS parent ON parent.session_id = ? AND parent.id = first.parent_id
WHERE chain.round < 989 AND parent.seq > ? AND (chain.base_depth IS NULL OR chain.base_depth - parent.depth < ?) AND chain.stop_seq IS NULL)
 SELECT chain.id, CAST(chain.depth AS TEXT) AS parent_id, -1 - chain.round AS seq, chain.seq AS timestamp, CAST(chain.segment_seq AS TEXT) AS type, CAST(chain.stop_seq AS TEXT) AS custom_type, NULL AS payload
FROM chain UNION ALL SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type, anon_1.payload
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type, entries.payload AS payload
FROM entries
WHERE entries.session_id = ? AND entries.segment_seq = (SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ?) AND entries.seq >= coalesce((SELECT stop.seq
FROM entries AS stop
WHERE stop.session_id = ? AND stop.segment_seq = (SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ?) AND stop.seq >= 0 AND stop.seq <= (SELECT start.seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ?) AND (stop.type = ? OR stop.id = ?) ORDER BY stop.seq DESC
 LIMIT 1 OFFSET ?), ?) AND entries.seq <= CASE WHEN ((SELECT start.seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ?) < ?) THEN (SELECT start.seq
FROM entries AS start
WHERE start.session_id = ? AND start.id = ?) ELSE ? - 1 END AND (? = '' OR entries.type = ?) AND (? = '' OR entries.custom_type = ?) ORDER BY entries.seq DESC
 LIMIT ? OFFSET ?) AS anon_1;

-- branch arms(asc, payload=False, filtered=False), size 1
SELECT entries.id, entries.parent_id, entries.seq, entries.timestamp, entries.type, entries.custom_type
FROM entries
WHERE entries.session_id = ? AND entries.segment_seq = ? AND entries.seq >= ? AND entries.seq <= ? ORDER BY entries.seq
 LIMIT ? OFFSET ?;

-- branch arms(asc, payload=False, filtered=False), size 2
SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type
FROM entries
WHERE entries.session_id = ? AND entries.segment_seq = ? AND entries.seq >= ? AND entries.seq <= ? ORDER BY entries.seq
 LIMIT ? OFFSET ?) AS anon_1 UNION ALL SELECT anon_2.id, anon_2.parent_id, anon_2.seq, anon_2.timestamp, anon_2.type, anon_2.custom_type
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type
FROM entries
WHERE entries.session_id = ? AND entries.segment_seq = ? AND entries.seq >= ? AND entries.seq <= ? ORDER BY entries.seq
 LIMIT ? OFFSET ?) AS anon_2;

-- branch arms(asc, payload=False, filtered=True), size 1
SELECT entries.id, entries.parent_id, entries.seq, entries.timestamp, entries.type, entries.custom_type
FROM entries
WHERE entries.session_id = ? AND entries.segment_seq = ? AND entries.seq >= ? AND entries.seq <= ? AND (? = '' OR entries.type = ?) AND (? = '' OR entries.custom_type = ?) ORDER BY entries.seq
 LIMIT ? OFFSET ?;

-- branch arms(asc, payload=False, filtered=True), size 2
SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type
FROM entries
WHERE entries.session_id = ? AND entries.segment_seq = ? AND entries.seq >= ? AND entries.seq <= ? AND (? = '' OR entries.type = ?) AND (? = '' OR entries.custom_type = ?) ORDER BY entries.seq
 LIMIT ? OFFSET ?) AS anon_1 UNION ALL SELECT anon_2.id, anon_2.parent_id, anon_2.seq, anon_2.timestamp, anon_2.type, anon_2.custom_type
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type
FROM entries
WHERE entries.session_id = ? AND entries.segment_seq = ? AND entries.seq >= ? AND entries.seq <= ? AND (? = '' OR entries.type = ?) AND (? = '' OR entries.custom_type = ?) ORDER BY entries.seq
 LIMIT ? OFFSET ?) AS anon_2;

-- branch arms(asc, payload=True, filtered=False), size 1
SELECT entries.id, entries.parent_id, entries.seq, entries.timestamp, entries.type, entries.custom_type, entries.payload
FROM entries
WHERE entries.session_id = ? AND entries.segment_seq = ? AND entries.seq >= ? AND entries.seq <= ? ORDER BY entries.seq
 LIMIT ? OFFSET ?;

-- branch arms(asc, payload=True, filtered=False), size 2
SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type, anon_1.payload
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type, entries.payload AS payload
FROM entries
WHERE entries.session_id = ? AND entries.segment_seq = ? AND entries.seq >= ? AND entries.seq <= ? ORDER BY entries.seq
 LIMIT ? OFFSET ?) AS anon_1 UNION ALL SELECT anon_2.id, anon_2.parent_id, anon_2.seq, anon_2.timestamp, anon_2.type, anon_2.custom_type, anon_2.payload
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type, entries.payload AS payload
FROM entries
WHERE entries.session_id = ? AND entries.segment_seq = ? AND entries.seq >= ? AND entries.seq <= ? ORDER BY entries.seq
 LIMIT ? OFFSET ?) AS anon_2;

-- branch arms(asc, payload=True, filtered=True), size 1
SELECT entries.id, entries.parent_id, entries.seq, entries.timestamp, entries.type, entries.custom_type, entries.payload
FROM entries
WHERE entries.session_id = ? AND entries.segment_seq = ? AND entries.seq >= ? AND entries.seq <= ? AND (? = '' OR entries.type = ?) AND (? = '' OR entries.custom_type = ?) ORDER BY entries.seq
 LIMIT ? OFFSET ?;

-- branch arms(asc, payload=True, filtered=True), size 2
SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type, anon_1.payload
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type, entries.payload AS payload
FROM entries
WHERE entries.session_id = ? AND entries.segment_seq = ? AND entries.seq >= ? AND entries.seq <= ? AND (? = '' OR entries.type = ?) AND (? = '' OR entries.custom_type = ?) ORDER BY entries.seq
 LIMIT ? OFFSET ?) AS anon_1 UNION ALL SELECT anon_2.id, anon_2.parent_id, anon_2.seq, anon_2.timestamp, anon_2.type, anon_2.custom_type, anon_2.payload
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type, entries.payload AS payload
FROM entries
WHERE entries.session_id = ? AND entries.segment_seq = ? AND entries.seq >= ? AND entries.seq <= ? AND (? = '' OR entries.type = ?) AND (? = '' OR entries.custom_type = ?) ORDER BY entries.seq
 LIMIT ? OFFSET ?) AS anon_2;

-- branch arms(desc, payload=False, filtered=False), size 1
SELECT entries.id, entries.parent_id, entries.seq, entries.timestamp, entries.type, entries.custom_type
FROM entries
WHERE entries.session_id = ? AND entries.segment_seq = ? AND entries.seq >= ? AND entries.seq <= ? ORDER BY entries.seq DESC
 LIMIT ? OFFSET ?;

-- branch arms(desc, payload=False, filtered=False), size 2
SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type
FROM entries
WHERE entries.session_id = ? AND entries.segment_seq = ? AND entries.seq >= ? AND entries.seq <= ? ORDER BY entries.seq DESC
 LIMIT ? OFFSET ?) AS anon_1 UNION ALL SELECT anon_2.id, anon_2.parent_id, anon_2.seq, anon_2.timestamp, anon_2.type, anon_2.custom_type
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type
FROM entries
WHERE entries.session_id = ? AND entries.segment_seq = ? AND entries.seq >= ? AND entries.seq <= ? ORDER BY entries.seq DESC
 LIMIT ? OFFSET ?) AS anon_2;

-- branch arms(desc, payload=False, filtered=True), size 1
SELECT entries.id, entries.parent_id, entries.seq, entries.timestamp, entries.type, entries.custom_type
FROM entries
WHERE entries.session_id = ? AND entries.segment_seq = ? AND entries.seq >= ? AND entries.seq <= ? AND (? = '' OR entries.type = ?) AND (? = '' OR entries.custom_type = ?) ORDER BY entries.seq DESC
 LIMIT ? OFFSET ?;

-- branch arms(desc, payload=False, filtered=True), size 2
SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type
FROM entries
WHERE entries.session_id = ? AND entries.segment_seq = ? AND entries.seq >= ? AND entries.seq <= ? AND (? = '' OR entries.type = ?) AND (? = '' OR entries.custom_type = ?) ORDER BY entries.seq DESC
 LIMIT ? OFFSET ?) AS anon_1 UNION ALL SELECT anon_2.id, anon_2.parent_id, anon_2.seq, anon_2.timestamp, anon_2.type, anon_2.custom_type
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type
FROM entries
WHERE entries.session_id = ? AND entries.segment_seq = ? AND entries.seq >= ? AND entries.seq <= ? AND (? = '' OR entries.type = ?) AND (? = '' OR entries.custom_type = ?) ORDER BY entries.seq DESC
 LIMIT ? OFFSET ?) AS anon_2;

-- branch arms(desc, payload=True, filtered=False), size 1
SELECT entries.id, entries.parent_id, entries.seq, entries.timestamp, entries.type, entries.custom_type, entries.payload
FROM entries
WHERE entries.session_id = ? AND entries.segment_seq = ? AND entries.seq >= ? AND entries.seq <= ? ORDER BY entries.seq DESC
 LIMIT ? OFFSET ?;

-- branch arms(desc, payload=True, filtered=False), size 2
SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type, anon_1.payload
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type, entries.payload AS payload
FROM entries
WHERE entries.session_id = ? AND entries.segment_seq = ? AND entries.seq >= ? AND entries.seq <= ? ORDER BY entries.seq DESC
 LIMIT ? OFFSET ?) AS anon_1 UNION ALL SELECT anon_2.id, anon_2.parent_id, anon_2.seq, anon_2.timestamp, anon_2.type, anon_2.custom_type, anon_2.payload
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type, entries.payload AS payload
FROM entries
WHERE entries.session_id = ? AND entries.segment_seq = ? AND entries.seq >= ? AND entries.seq <= ? ORDER BY entries.seq DESC
 LIMIT ? OFFSET ?) AS anon_2;

-- branch arms(desc, payload=True, filtered=True), size 1
SELECT entries.id, entries.parent_id, entries.seq, entries.timestamp, entries.type, entries.custom_type, entries.payload
FROM entries
WHERE entries.session_id = ? AND entries.segment_seq = ? AND entries.seq >= ? AND entries.seq <= ? AND (? = '' OR entries.type = ?) AND (? = '' OR entries.custom_type = ?) ORDER BY entries.seq DESC
 LIMIT ? OFFSET ?;

-- branch arms(desc, payload=True, filtered=True), size 2
SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type, anon_1.payload
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type, entries.payload AS payload
FROM entries
WHERE entries.session_id = ? AND entries.segment_seq = ? AND entries.seq >= ? AND entries.seq <= ? AND (? = '' OR entries.type = ?) AND (? = '' OR entries.custom_type = ?) ORDER BY entries.seq DESC
 LIMIT ? OFFSET ?) AS anon_1 UNION ALL SELECT anon_2.id, anon_2.parent_id, anon_2.seq, anon_2.timestamp, anon_2.type, anon_2.custom_type, anon_2.payload
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type, entries.payload AS payload
FROM entries
WHERE entries.session_id = ? AND entries.segment_seq = ? AND entries.seq >= ? AND entries.seq <= ? AND (? = '' OR entries.type = ?) AND (? = '' OR entries.custom_type = ?) ORDER BY entries.seq DESC
 LIMIT ? OFFSET ?) AS anon_2;
