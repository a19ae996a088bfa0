-- schema 1
CREATE TABLE IF NOT EXISTS alembic_version (
	version_num VARCHAR(32) NOT NULL,
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);

-- schema 2
CREATE TABLE IF NOT EXISTS sessions (
	id VARBINARY(180) NOT NULL,
	created_at BIGINT NOT NULL,
	modified_at BIGINT NOT NULL,
	parent_session_id VARBINARY(180),
	storage_version INTEGER NOT NULL,
	metadata LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
	message_count BIGINT NOT NULL,
	`usage` LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
	next_seq BIGINT NOT NULL,
	CONSTRAINT pk_sessions PRIMARY KEY (id)
)ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARSET=utf8mb4 COLLATE utf8mb4_bin;

-- schema 3
CREATE INDEX ix_sessions_created_at_id ON sessions (created_at, id);

-- schema 4
CREATE TABLE IF NOT EXISTS entries (
	session_id VARBINARY(180) NOT NULL,
	id VARBINARY(255) NOT NULL,
	parent_id VARBINARY(255),
	seq BIGINT NOT NULL,
	type VARBINARY(32) NOT NULL,
	custom_type VARBINARY(255),
	timestamp BIGINT NOT NULL,
	payload LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
	segment_seq BIGINT NOT NULL,
	depth BIGINT NOT NULL,
	CONSTRAINT pk_entries PRIMARY KEY (session_id, id),
	CONSTRAINT uq_entries_session_id_seq UNIQUE (session_id, seq),
	CONSTRAINT fk_entries_session_id_sessions FOREIGN KEY(session_id) REFERENCES sessions (id)
)ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARSET=utf8mb4 COLLATE utf8mb4_bin;

-- schema 5
CREATE INDEX ix_entries_session_id_segment_seq_seq ON entries (session_id, segment_seq, seq);

-- schema 6
CREATE TABLE IF NOT EXISTS list_values (
	session_id VARBINARY(180) NOT NULL,
	scope_id VARBINARY(180) NOT NULL,
	namespace VARBINARY(255) NOT NULL,
	`key` VARBINARY(1024) NOT NULL,
	seq BIGINT NOT NULL,
	value LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
	tag VARBINARY(255),
	CONSTRAINT pk_list_values PRIMARY KEY (session_id, scope_id, namespace, `key`, seq),
	CONSTRAINT fk_list_values_session_id_sessions FOREIGN KEY(session_id) REFERENCES sessions (id)
)ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARSET=utf8mb4 COLLATE utf8mb4_bin;

-- schema 7
CREATE TABLE IF NOT EXISTS scalar_values (
	session_id VARBINARY(180) NOT NULL,
	scope_id VARBINARY(180) NOT NULL,
	namespace VARBINARY(255) NOT NULL,
	`key` VARBINARY(1024) NOT NULL,
	seq BIGINT NOT NULL,
	value LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
	CONSTRAINT pk_scalar_values PRIMARY KEY (session_id, scope_id, namespace, `key`),
	CONSTRAINT fk_scalar_values_session_id_sessions FOREIGN KEY(session_id) REFERENCES sessions (id)
)ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARSET=utf8mb4 COLLATE utf8mb4_bin;

-- schema 8
CREATE TABLE IF NOT EXISTS usage_ledger (
	session_id VARBINARY(180) NOT NULL,
	id VARBINARY(255) NOT NULL,
	seq BIGINT NOT NULL,
	entry_id VARBINARY(255),
	adjustment BOOL NOT NULL,
	`usage` LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
	details LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
	CONSTRAINT pk_usage_ledger PRIMARY KEY (session_id, id),
	CONSTRAINT uq_usage_ledger_session_id_seq UNIQUE (session_id, seq),
	CONSTRAINT fk_usage_ledger_session_id_sessions FOREIGN KEY(session_id) REFERENCES sessions (id)
)ENGINE=InnoDB ROW_FORMAT=DYNAMIC CHARSET=utf8mb4 COLLATE utf8mb4_bin;

-- schema 9
INSERT IGNORE INTO alembic_version (version_num) VALUES ('0001');

-- begin_write
START TRANSACTION;

-- begin_snapshot
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;
START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY;

-- commit
COMMIT;

-- rollback
ROLLBACK;

-- advance_session
UPDATE sessions SET modified_at=%s, message_count=%s, `usage`=%s, next_seq=%s WHERE sessions.id = %s;

-- all_elements
SELECT list_values.scope_id, list_values.namespace, list_values.`key`, list_values.seq, list_values.value, list_values.tag
FROM list_values
WHERE list_values.session_id = %s ORDER BY list_values.seq;

-- all_entries
SELECT entries.id, entries.parent_id, entries.seq, entries.timestamp, entries.type, entries.custom_type, entries.payload
FROM entries
WHERE entries.session_id = %s ORDER BY entries.seq;

-- all_places
SELECT entries.id, entries.parent_id, entries.seq, entries.segment_seq, entries.depth, entries.type
FROM entries
WHERE entries.session_id = %s ORDER BY entries.seq;

-- all_structure
SELECT entries.id, entries.parent_id, entries.seq, entries.timestamp, entries.type, entries.custom_type
FROM entries
WHERE entries.session_id = %s ORDER BY entries.seq;

-- all_usage
SELECT usage_ledger.id, usage_ledger.seq, usage_ledger.entry_id, usage_ledger.adjustment, usage_ledger.`usage`, usage_ledger.details
FROM usage_ledger
WHERE usage_ledger.session_id = %s ORDER BY usage_ledger.seq;

-- all_values
SELECT scalar_values.scope_id, scalar_values.namespace, scalar_values.`key`, scalar_values.seq, scalar_values.value
FROM scalar_values
WHERE scalar_values.session_id = %s ORDER BY scalar_values.seq;

-- append_elements
INSERT INTO list_values (session_id, scope_id, namespace, `key`, seq, value, tag) VALUES (%s, %s, %s, %s, %s, %s, %s);

-- delete_place[values]
DELETE FROM scalar_values WHERE scalar_values.session_id = %s AND scalar_values.scope_id = %s AND scalar_values.namespace = %s AND scalar_values.`key` = %s;

-- delete_place[lists]
DELETE FROM list_values WHERE list_values.session_id = %s AND list_values.scope_id = %s AND list_values.namespace = %s AND list_values.`key` = %s;

-- delete_session[0]
DELETE FROM entries WHERE entries.session_id = %s;

-- delete_session[1]
DELETE FROM scalar_values WHERE scalar_values.session_id = %s;

-- delete_session[2]
DELETE FROM list_values WHERE list_values.session_id = %s;

-- delete_session[3]
DELETE FROM usage_ledger WHERE usage_ledger.session_id = %s;

-- delete_session[4]
DELETE FROM sessions WHERE sessions.id = %s;

-- elements_in, two items
SELECT list_values.scope_id, list_values.namespace, list_values.`key`, list_values.seq, list_values.value, list_values.tag
FROM list_values
WHERE list_values.session_id = %s AND list_values.scope_id = %s AND list_values.namespace IN (%s, %s) ORDER BY list_values.seq;

-- entries_by_id, two items
SELECT entries.id, entries.parent_id, entries.seq, entries.timestamp, entries.type, entries.custom_type, entries.payload
FROM entries
WHERE entries.session_id = %s AND entries.id IN (%s, %s);

-- find_ids, two items
SELECT entries.id, entries.seq, entries.segment_seq, entries.depth, (SELECT last.seq
FROM entries AS last FORCE INDEX (ix_entries_session_id_segment_seq_seq)
WHERE last.session_id = %s AND last.segment_seq = entries.segment_seq AND last.seq >= entries.seq AND last.seq <= 9223372036854775807 ORDER BY last.seq DESC
 LIMIT 1) = entries.seq AS ends_segment
FROM entries
WHERE entries.session_id = %s AND entries.id IN (%s, %s) UNION ALL SELECT usage_ledger.id, NULL AS anon_1, NULL AS anon__1, NULL AS anon__2, NULL AS anon__3
FROM usage_ledger
WHERE usage_ledger.session_id = %s AND usage_ledger.id IN (%s, %s);

-- get_value
SELECT scalar_values.seq, scalar_values.value
FROM scalar_values
WHERE scalar_values.session_id = %s AND scalar_values.scope_id = %s AND scalar_values.namespace = %s AND scalar_values.`key` = %s;

-- highest_seqs
SELECT max(entries.seq) AS max_1
FROM entries
WHERE entries.session_id = %s UNION ALL SELECT max(scalar_values.seq) AS max_2
FROM scalar_values
WHERE scalar_values.session_id = %s UNION ALL SELECT max(list_values.seq) AS max_3
FROM list_values
WHERE list_values.session_id = %s UNION ALL SELECT max(usage_ledger.seq) AS max_4
FROM usage_ledger
WHERE usage_ledger.session_id = %s;

-- insert_entries
INSERT INTO entries (session_id, id, parent_id, seq, type, custom_type, timestamp, payload, segment_seq, depth) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s);

-- insert_session
INSERT INTO sessions (id, created_at, modified_at, parent_session_id, storage_version, metadata, message_count, `usage`, next_seq) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s);

-- insert_usage
INSERT INTO usage_ledger (session_id, id, seq, entry_id, adjustment, `usage`, details) VALUES (%s, %s, %s, %s, %s, %s, %s);

-- list_places
SELECT DISTINCT list_values.scope_id, list_values.namespace, list_values.`key`
FROM list_values
WHERE list_values.session_id = %s AND list_values.scope_id = %s;

-- lock_session
SELECT sessions.next_seq, sessions.message_count, sessions.`usage`
FROM sessions
WHERE sessions.id = %s AND sessions.created_at = %s FOR UPDATE;

-- lock_session_header
SELECT sessions.id, sessions.created_at, sessions.modified_at, sessions.parent_session_id, sessions.storage_version, sessions.metadata
FROM sessions
WHERE sessions.id = %s FOR UPDATE;

-- place_entry
UPDATE entries SET segment_seq=%s, depth=%s WHERE entries.session_id = %s AND entries.id = %s;

-- session_header
SELECT sessions.id, sessions.created_at, sessions.modified_at, sessions.parent_session_id, sessions.storage_version, sessions.metadata
FROM sessions
WHERE sessions.id = %s;

-- session_image
SELECT sessions.id, sessions.created_at, sessions.modified_at, sessions.parent_session_id, sessions.storage_version, sessions.metadata, sessions.next_seq, sessions.message_count, sessions.`usage`
FROM sessions
WHERE sessions.id = %s;

-- session_state
SELECT sessions.next_seq, sessions.message_count, sessions.`usage`
FROM sessions
WHERE sessions.id = %s AND sessions.created_at = %s;

-- set_derived
UPDATE sessions SET message_count=%s, `usage`=%s, next_seq=%s WHERE sessions.id = %s;

-- set_values
INSERT INTO scalar_values (session_id, scope_id, namespace, `key`, seq, value) VALUES (%s, %s, %s, %s, %s, %s) ON DUPLICATE KEY UPDATE seq = VALUES(seq), value = VALUES(value);

-- take_numbers
-- lock_session and advance_session instead;

-- value_places
SELECT DISTINCT scalar_values.scope_id, scalar_values.namespace, scalar_values.`key`
FROM scalar_values
WHERE scalar_values.session_id = %s AND scalar_values.scope_id = %s;

-- values_in, two items
SELECT scalar_values.scope_id, scalar_values.namespace, scalar_values.`key`, scalar_values.seq, scalar_values.value
FROM scalar_values
WHERE scalar_values.session_id = %s AND scalar_values.scope_id = %s AND scalar_values.namespace IN (%s, %s) ORDER BY scalar_values.seq;

-- copy_ranges, size 1
INSERT INTO entries (session_id, id, parent_id, seq, type, custom_type, timestamp, payload, segment_seq, depth) SELECT %s AS anon_1, entries.id, entries.parent_id, entries.seq, entries.type, entries.custom_type, entries.timestamp, entries.payload, %s AS anon_2, entries.depth
FROM entries
WHERE entries.session_id = %s AND entries.segment_seq = %s AND entries.seq >= %s AND entries.seq <= %s;

-- copy_ranges, size 2
INSERT INTO entries (session_id, id, parent_id, seq, type, custom_type, timestamp, payload, segment_seq, depth) SELECT %s AS anon_1, entries.id, entries.parent_id, entries.seq, entries.type, entries.custom_type, entries.timestamp, entries.payload, %s AS anon_2, entries.depth
FROM entries
WHERE entries.session_id = %s AND entries.segment_seq = %s AND entries.seq >= %s AND entries.seq <= %s UNION ALL SELECT %s AS anon_3, entries.id, entries.parent_id, entries.seq, entries.type, entries.custom_type, entries.timestamp, entries.payload, %s AS anon_4, entries.depth
FROM entries
WHERE entries.session_id = %s AND entries.segment_seq = %s AND entries.seq >= %s AND entries.seq <= %s;

-- copy_tree
INSERT INTO entries (session_id, id, parent_id, seq, type, custom_type, timestamp, payload, segment_seq, depth) SELECT %s AS anon_1, entries.id, entries.parent_id, entries.seq, entries.type, entries.custom_type, entries.timestamp, entries.payload, entries.segment_seq, entries.depth
FROM entries
WHERE entries.session_id = %s AND entries.seq < %s;

-- count_messages, size 1
SELECT count(*) AS count_1
FROM entries
WHERE entries.session_id = %s AND entries.segment_seq = %s AND entries.seq >= %s AND entries.seq <= %s AND entries.type = %s;

-- count_messages, size 2
SELECT count(*) AS count_1
FROM entries
WHERE entries.session_id = %s AND entries.segment_seq = %s AND entries.seq >= %s AND entries.seq <= %s AND entries.type = %s UNION ALL SELECT count(*) AS count_2
FROM entries
WHERE entries.session_id = %s AND entries.segment_seq = %s AND entries.seq >= %s AND entries.seq <= %s AND entries.type = %s;

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
WHERE sessions.created_at <= %s AND (sessions.created_at < %s OR sessions.id > %s) ORDER BY sessions.created_at DESC, sessions.id;

-- list_sessions(after=True, limited=True)
SELECT sessions.id, sessions.created_at, sessions.modified_at, sessions.parent_session_id, sessions.storage_version, sessions.metadata
FROM sessions
WHERE sessions.created_at <= %s AND (sessions.created_at < %s OR sessions.id > %s) ORDER BY sessions.created_at DESC, sessions.id
 LIMIT %s;

-- scan_entries(asc, by_type=False, by_custom_type=False)
SELECT entries.id, entries.parent_id, entries.seq, entries.timestamp, entries.type, entries.custom_type, entries.payload
FROM entries
WHERE entries.session_id = %s AND entries.seq >= %s AND entries.seq <= %s ORDER BY entries.seq
 LIMIT %s;

-- scan_entries(asc, by_type=False, by_custom_type=True)
SELECT entries.id, entries.parent_id, entries.seq, entries.timestamp, entries.type, entries.custom_type, entries.payload
FROM entries
WHERE entries.session_id = %s AND entries.seq >= %s AND entries.seq <= %s AND entries.custom_type = %s ORDER BY entries.seq
 LIMIT %s;

-- scan_entries(asc, by_type=True, by_custom_type=False)
SELECT entries.id, entries.parent_id, entries.seq, entries.timestamp, entries.type, entries.custom_type, entries.payload
FROM entries
WHERE entries.session_id = %s AND entries.seq >= %s AND entries.seq <= %s AND entries.type = %s ORDER BY entries.seq
 LIMIT %s;

-- scan_entries(asc, by_type=True, by_custom_type=True)
SELECT entries.id, entries.parent_id, entries.seq, entries.timestamp, entries.type, entries.custom_type, entries.payload
FROM entries
WHERE entries.session_id = %s AND entries.seq >= %s AND entries.seq <= %s AND entries.type = %s AND entries.custom_type = %s ORDER BY entries.seq
 LIMIT %s;

-- scan_entries(desc, by_type=False, by_custom_type=False)
SELECT entries.id, entries.parent_id, entries.seq, entries.timestamp, entries.type, entries.custom_type, entries.payload
FROM entries
WHERE entries.session_id = %s AND entries.seq >= %s AND entries.seq <= %s ORDER BY entries.seq DESC
 LIMIT %s;

-- scan_entries(desc, by_type=False, by_custom_type=True)
SELECT entries.id, entries.parent_id, entries.seq, entries.timestamp, entries.type, entries.custom_type, entries.payload
FROM entries
WHERE entries.session_id = %s AND entries.seq >= %s AND entries.seq <= %s AND entries.custom_type = %s ORDER BY entries.seq DESC
 LIMIT %s;

-- scan_entries(desc, by_type=True, by_custom_type=False)
SELECT entries.id, entries.parent_id, entries.seq, entries.timestamp, entries.type, entries.custom_type, entries.payload
FROM entries
WHERE entries.session_id = %s AND entries.seq >= %s AND entries.seq <= %s AND entries.type = %s ORDER BY entries.seq DESC
 LIMIT %s;

-- scan_entries(desc, by_type=True, by_custom_type=True)
SELECT entries.id, entries.parent_id, entries.seq, entries.timestamp, entries.type, entries.custom_type, entries.payload
FROM entries
WHERE entries.session_id = %s AND entries.seq >= %s AND entries.seq <= %s AND entries.type = %s AND entries.custom_type = %s ORDER BY entries.seq DESC
 LIMIT %s;

-- scan_usage(asc)
SELECT usage_ledger.id, usage_ledger.seq, usage_ledger.entry_id, usage_ledger.adjustment, usage_ledger.`usage`, usage_ledger.details
FROM usage_ledger
WHERE usage_ledger.session_id = %s AND usage_ledger.seq >= %s AND usage_ledger.seq <= %s ORDER BY usage_ledger.seq
 LIMIT %s;

-- read_list(asc)
SELECT list_values.seq, list_values.value, list_values.tag
FROM list_values
WHERE list_values.session_id = %s AND list_values.scope_id = %s AND list_values.namespace = %s AND list_values.`key` = %s AND list_values.seq > %s ORDER BY list_values.seq
 LIMIT %s;

-- scan_usage(desc)
SELECT usage_ledger.id, usage_ledger.seq, usage_ledger.entry_id, usage_ledger.adjustment, usage_ledger.`usage`, usage_ledger.details
FROM usage_ledger
WHERE usage_ledger.session_id = %s AND usage_ledger.seq >= %s AND usage_ledger.seq <= %s ORDER BY usage_ledger.seq DESC
 LIMIT %s;

-- read_list(desc)
SELECT list_values.seq, list_values.value, list_values.tag
FROM list_values
WHERE list_values.session_id = %s AND list_values.scope_id = %s AND list_values.namespace = %s AND list_values.`key` = %s AND list_values.seq < %s ORDER BY list_values.seq DESC
 LIMIT %s;

-- scan_values(bounded=False)
SELECT scalar_values.scope_id, scalar_values.namespace, scalar_values.`key`, scalar_values.seq, scalar_values.value
FROM scalar_values
WHERE scalar_values.session_id = %s AND scalar_values.scope_id = %s AND scalar_values.namespace = %s AND scalar_values.`key` >= %s ORDER BY scalar_values.`key`;

-- scan_values(bounded=True)
SELECT scalar_values.scope_id, scalar_values.namespace, scalar_values.`key`, scalar_values.seq, scalar_values.value
FROM scalar_values
WHERE scalar_values.session_id = %s AND scalar_values.scope_id = %s AND scalar_values.namespace = %s AND scalar_values.`key` >= %s AND scalar_values.`key` < %s ORDER BY scalar_values.`key`;

-- delete_places(values, places=2, scopes=0)
DELETE FROM scalar_values WHERE scalar_values.session_id = %s AND scalar_values.scope_id = %s AND scalar_values.namespace = %s AND scalar_values.`key` = %s OR scalar_values.session_id = %s AND scalar_values.scope_id = %s AND scalar_values.namespace = %s AND scalar_values.`key` = %s;

-- delete_places(values, places=0, scopes=1)
DELETE FROM scalar_values WHERE scalar_values.session_id = %s AND scalar_values.scope_id = %s;

-- delete_places(values, places=2, scopes=1)
DELETE FROM scalar_values WHERE scalar_values.session_id = %s AND scalar_values.scope_id = %s AND scalar_values.namespace = %s AND scalar_values.`key` = %s OR scalar_values.session_id = %s AND scalar_values.scope_id = %s AND scalar_values.namespace = %s AND scalar_values.`key` = %s OR scalar_values.session_id = %s AND scalar_values.scope_id = %s;

-- delete_places(lists, places=2, scopes=0)
DELETE FROM list_values WHERE list_values.session_id = %s AND list_values.scope_id = %s AND list_values.namespace = %s AND list_values.`key` = %s OR list_values.session_id = %s AND list_values.scope_id = %s AND list_values.namespace = %s AND list_values.`key` = %s;

-- delete_places(lists, places=0, scopes=1)
DELETE FROM list_values WHERE list_values.session_id = %s AND list_values.scope_id = %s;

-- delete_places(lists, places=2, scopes=1)
DELETE FROM list_values WHERE list_values.session_id = %s AND list_values.scope_id = %s AND list_values.namespace = %s AND list_values.`key` = %s OR list_values.session_id = %s AND list_values.scope_id = %s AND list_values.namespace = %s AND list_values.`key` = %s OR list_values.session_id = %s AND list_values.scope_id = %s;

-- branch head(asc, payload=False, stops=False, filtered=False)
WITH RECURSIVE chain(round, id, segment_seq, seq, depth, base_depth, stop_seq) AS
(SELECT 0 AS round, start.id AS id, start.segment_seq AS segment_seq, start.seq AS seq, start.depth AS depth, CASE WHEN (start.seq < %s) THEN start.depth END AS base_depth, CAST(NULL AS SIGNED INTEGER) AS stop_seq
FROM entries AS start
WHERE start.session_id = %s AND start.id = %s UNION ALL SELECT chain.round + 1 AS round, parent.id AS id, parent.segment_seq AS segment_seq, parent.seq AS seq, parent.depth AS depth, CASE WHEN (chain.base_depth IS NOT NULL) THEN chain.base_depth WHEN (parent.seq < %s) THEN parent.depth END AS base_depth, CAST(NULL AS SIGNED INTEGER) AS stop_seq
FROM chain INNER JOIN entries AS first ON first.session_id = %s AND first.seq = chain.segment_seq INNER JOIN entries AS parent ON parent.session_id = %s AND parent.id = first.parent_id
WHERE chain.round < 989 AND parent.seq > %s AND (chain.base_depth IS NULL OR chain.base_depth - parent.depth < %s))
 SELECT chain.id, CAST(chain.depth AS BINARY) AS parent_id, -1 - chain.round AS seq, chain.seq AS timestamp, CAST(chain.segment_seq AS BINARY) AS type, CAST(chain.stop_seq AS BINARY) AS custom_type
FROM chain UNION ALL SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type
FROM entries FORCE INDEX (ix_entries_session_id_segment_seq_seq)
WHERE entries.session_id = %s AND entries.segment_seq = (SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s AND start.id = %s) AND entries.seq >= %s AND entries.seq <= (SELECT start.seq
FROM entries AS start
WHERE start.session_id = %s AND start.id = %s) ORDER BY entries.seq
 LIMIT %s) AS anon_1;

-- branch head(asc, payload=False, stops=False, filtered=True)
WITH RECURSIVE chain(round, id, segment_seq, seq, depth, base_depth, stop_seq) AS
(SELECT 0 AS round, start.id AS id, start.segment_seq AS segment_seq, start.seq AS seq, start.depth AS depth, CASE WHEN (start.seq < %s) THEN start.depth END AS base_depth, CAST(NULL AS SIGNED INTEGER) AS stop_seq
FROM entries AS start
WHERE start.session_id = %s AND start.id = %s UNION ALL SELECT chain.round + 1 AS round, parent.id AS id, parent.segment_seq AS segment_seq, parent.seq AS seq, parent.depth AS depth, CASE WHEN (chain.base_depth IS NOT NULL) THEN chain.base_depth WHEN (parent.seq < %s) THEN parent.depth END AS base_depth, CAST(NULL AS SIGNED INTEGER) AS stop_seq
FROM chain INNER JOIN entries AS first ON first.session_id = %s AND first.seq = chain.segment_seq INNER JOIN entries AS parent ON parent.session_id = %s AND parent.id = first.parent_id
WHERE chain.round < 989 AND parent.seq > %s AND (chain.base_depth IS NULL OR chain.base_depth - parent.depth < %s))
 SELECT chain.id, CAST(chain.depth AS BINARY) AS parent_id, -1 - chain.round AS seq, chain.seq AS timestamp, CAST(chain.segment_seq AS BINARY) AS type, CAST(chain.stop_seq AS BINARY) AS custom_type
FROM chain UNION ALL SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type
FROM entries FORCE INDEX (ix_entries_session_id_segment_seq_seq)
WHERE entries.session_id = %s AND entries.segment_seq = (SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s AND start.id = %s) AND entries.seq >= %s AND entries.seq <= (SELECT start.seq
FROM entries AS start
WHERE start.session_id = %s AND start.id = %s) AND (%s = '' OR entries.type = %s) AND (%s = '' OR entries.custom_type = %s) ORDER BY entries.seq
 LIMIT %s) AS anon_1;

-- branch head(asc, payload=False, stops=True, filtered=False)
WITH RECURSIVE chain(round, id, segment_seq, seq, depth, base_depth, stop_seq) AS
(SELECT 0 AS round, start.id AS id, start.segment_seq AS segment_seq, start.seq AS seq, start.depth AS depth, CASE WHEN (start.seq < %s) THEN start.depth END AS base_depth, (SELECT stop.seq
FROM entries AS stop FORCE INDEX (ix_entries_session_id_segment_seq_seq)
WHERE stop.session_id = %s AND stop.segment_seq = start.segment_seq AND stop.seq >= 0 AND stop.seq <= start.seq AND (stop.type = %s OR stop.id = %s) ORDER BY stop.seq
 LIMIT 1) AS stop_seq
FROM entries AS start
WHERE start.session_id = %s AND start.id = %s UNION ALL SELECT chain.round + 1 AS round, parent.id AS id, parent.segment_seq AS segment_seq, parent.seq AS seq, parent.depth AS depth, CASE WHEN (chain.base_depth IS NOT NULL) THEN chain.base_depth WHEN (parent.seq < %s) THEN parent.depth END AS base_depth, (SELECT stop.seq
FROM entries AS stop FORCE INDEX (ix_entries_session_id_segment_seq_seq)
WHERE stop.session_id = %s AND stop.segment_seq = parent.segment_seq AND stop.seq >= 0 AND stop.seq <= parent.seq AND (stop.type = %s OR stop.id = %s) ORDER BY stop.seq
 LIMIT 1) AS stop_seq
FROM chain INNER JOIN entries AS first ON first.session_id = %s AND first.seq = chain.segment_seq INNER JOIN entries AS parent ON parent.session_id = %s AND parent.id = first.parent_id
WHERE chain.round < 989 AND parent.seq > %s AND (chain.base_depth IS NULL OR chain.base_depth - parent.depth < %s))
 SELECT chain.id, CAST(chain.depth AS BINARY) AS parent_id, -1 - chain.round AS seq, chain.seq AS timestamp, CAST(chain.segment_seq AS BINARY) AS type, CAST(chain.stop_seq AS BINARY) AS custom_type
FROM chain UNION ALL SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type
FROM entries FORCE INDEX (ix_entries_session_id_segment_seq_seq)
WHERE entries.session_id = %s AND entries.segment_seq = (SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s AND start.id = %s) AND entries.seq >= %s AND entries.seq <= (SELECT start.seq
FROM entries AS start
WHERE start.session_id = %s AND start.id = %s) ORDER BY entries.seq
 LIMIT %s) AS anon_1;

-- branch head(asc, payload=False, stops=True, filtered=True)
WITH RECURSIVE chain(round, id, segment_seq, seq, depth, base_depth, stop_seq) AS
(SELECT 0 AS round, start.id AS id, start.segment_seq AS segment_seq, start.seq AS seq, start.depth AS depth, CASE WHEN (start.seq < %s) THEN start.depth END AS base_depth, (SELECT stop.seq
FROM entries AS stop FORCE INDEX (ix_entries_session_id_segment_seq_seq)
WHERE stop.session_id = %s AND stop.segment_seq = start.segment_seq AND stop.seq >= 0 AND stop.seq <= start.seq AND (stop.type = %s OR stop.id = %s) ORDER BY stop.seq
 LIMIT 1) AS stop_seq
FROM entries AS start
WHERE start.session_id = %s AND start.id = %s UNION ALL SELECT chain.round + 1 AS round, parent.id AS id, parent.segment_seq AS segment_seq, parent.seq AS seq, parent.depth AS depth, CASE WHEN (chain.base_depth IS NOT NULL) THEN chain.base_depth WHEN (parent.seq < %s) THEN parent.depth END AS base_depth, (SELECT stop.seq
FROM entries AS stop FORCE INDEX (ix_entries_session_id_segment_seq_seq)
WHERE stop.session_id = %s AND stop.segment_seq = parent.segment_seq AND stop.seq >= 0 AND stop.seq <= parent.seq AND (stop.type = %s OR stop.id = %s) ORDER BY stop.seq
 LIMIT 1) AS stop_seq
FROM chain INNER JOIN entries AS first ON first.session_id = %s AND first.seq = chain.segment_seq INNER JOIN entries AS parent ON parent.session_id = %s AND parent.id = first.parent_id
WHERE chain.round < 989 AND parent.seq > %s AND (chain.base_depth IS NULL OR chain.base_depth - parent.depth < %s))
 SELECT chain.id, CAST(chain.depth AS BINARY) AS parent_id, -1 - chain.round AS seq, chain.seq AS timestamp, CAST(chain.segment_seq AS BINARY) AS type, CAST(chain.stop_seq AS BINARY) AS custom_type
FROM chain UNION ALL SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type
FROM entries FORCE INDEX (ix_entries_session_id_segment_seq_seq)
WHERE entries.session_id = %s AND entries.segment_seq = (SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s AND start.id = %s) AND entries.seq >= %s AND entries.seq <= (SELECT start.seq
FROM entries AS start
WHERE start.session_id = %s AND start.id = %s) AND (%s = '' OR entries.type = %s) AND (%s = '' OR entries.custom_type = %s) ORDER BY entries.seq
 LIMIT %s) AS anon_1;

-- branch head(asc, payload=True, stops=False, filtered=False)
WITH RECURSIVE chain(round, id, segment_seq, seq, depth, base_depth, stop_seq) AS
(SELECT 0 AS round, start.id AS id, start.segment_seq AS segment_seq, start.seq AS seq, start.depth AS depth, CASE WHEN (start.seq < %s) THEN start.depth END AS base_depth, CAST(NULL AS SIGNED INTEGER) AS stop_seq
FROM entries AS start
WHERE start.session_id = %s AND start.id = %s UNION ALL SELECT chain.round + 1 AS round, parent.id AS id, parent.segment_seq AS segment_seq, parent.seq AS seq, parent.depth AS depth, CASE WHEN (chain.base_depth IS NOT NULL) THEN chain.base_depth WHEN (parent.seq < %s) THEN parent.depth END AS base_depth, CAST(NULL AS SIGNED INTEGER) AS stop_seq
FROM chain INNER JOIN entries AS first ON first.session_id = %s AND first.seq = chain.segment_seq INNER JOIN entries AS parent ON parent.session_id = %s AND parent.id = first.parent_id
WHERE chain.round < 989 AND parent.seq > %s AND (chain.base_depth IS NULL OR chain.base_depth - parent.depth < %s))
 SELECT chain.id, CAST(chain.depth AS BINARY) AS parent_id, -1 - chain.round AS seq, chain.seq AS timestamp, CAST(chain.segment_seq AS BINARY) AS type, CAST(chain.stop_seq AS BINARY) AS custom_type, NULL AS payload
FROM chain UNION ALL SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type, anon_1.payload
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type, entries.payload AS payload
FROM entries FORCE INDEX (ix_entries_session_id_segment_seq_seq)
WHERE entries.session_id = %s AND entries.segment_seq = (SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s AND start.id = %s) AND entries.seq >= %s AND entries.seq <= (SELECT start.seq
FROM entries AS start
WHERE start.session_id = %s AND start.id = %s) ORDER BY entries.seq
 LIMIT %s) AS anon_1;

-- branch head(asc, payload=True, stops=False, filtered=True)
WITH RECURSIVE chain(round, id, segment_seq, seq, depth, base_depth, stop_seq) AS
(SELECT 0 AS round, start.id AS id, start.segment_seq AS segment_seq, start.seq AS seq, start.depth AS depth, CASE WHEN (start.seq < %s) THEN start.depth END AS base_depth, CAST(NULL AS SIGNED INTEGER) AS stop_seq
FROM entries AS start
WHERE start.session_id = %s AND start.id = %s UNION ALL SELECT chain.round + 1 AS round, parent.id AS id, parent.segment_seq AS segment_seq, parent.seq AS seq, parent.depth AS depth, CASE WHEN (chain.base_depth IS NOT NULL) THEN chain.base_depth WHEN (parent.seq < %s) THEN parent.depth END AS base_depth, CAST(NULL AS SIGNED INTEGER) AS stop_seq
FROM chain INNER JOIN entries AS first ON first.session_id = %s AND first.seq = chain.segment_seq INNER JOIN entries AS parent ON parent.session_id = %s AND parent.id = first.parent_id
WHERE chain.round < 989 AND parent.seq > %s AND (chain.base_depth IS NULL OR chain.base_depth - parent.depth < %s))
 SELECT chain.id, CAST(chain.depth AS BINARY) AS parent_id, -1 - chain.round AS seq, chain.seq AS timestamp, CAST(chain.segment_seq AS BINARY) AS type, CAST(chain.stop_seq AS BINARY) AS custom_type, NULL AS payload
FROM chain UNION ALL SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type, anon_1.payload
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type, entries.payload AS payload
FROM entries FORCE INDEX (ix_entries_session_id_segment_seq_seq)
WHERE entries.session_id = %s AND entries.segment_seq = (SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s AND start.id = %s) AND entries.seq >= %s AND entries.seq <= (SELECT start.seq
FROM entries AS start
WHERE start.session_id = %s AND start.id = %s) AND (%s = '' OR entries.type = %s) AND (%s = '' OR entries.custom_type = %s) ORDER BY entries.seq
 LIMIT %s) AS anon_1;

-- branch head(asc, payload=True, stops=True, filtered=False)
WITH RECURSIVE chain(round, id, segment_seq, seq, depth, base_depth, stop_seq) AS
(SELECT 0 AS round, start.id AS id, start.segment_seq AS segment_seq, start.seq AS seq, start.depth AS depth, CASE WHEN (start.seq < %s) THEN start.depth END AS base_depth, (SELECT stop.seq
FROM entries AS stop FORCE INDEX (ix_entries_session_id_segment_seq_seq)
WHERE stop.session_id = %s AND stop.segment_seq = start.segment_seq AND stop.seq >= 0 AND stop.seq <= start.seq AND (stop.type = %s OR stop.id = %s) ORDER BY stop.seq
 LIMIT 1) AS stop_seq
FROM entries AS start
WHERE start.session_id = %s AND start.id = %s UNION ALL SELECT chain.round + 1 AS round, parent.id AS id, parent.segment_seq AS segment_seq, parent.seq AS seq, parent.depth AS depth, CASE WHEN (chain.base_depth IS NOT NULL) THEN chain.base_depth WHEN (parent.seq < %s) THEN parent.depth END AS base_depth, (SELECT stop.seq
FROM entries AS stop FORCE INDEX (ix_entries_session_id_segment_seq_seq)
WHERE stop.session_id = %s AND stop.segment_seq = parent.segment_seq AND stop.seq >= 0 AND stop.seq <= parent.seq AND (stop.type = %s OR stop.id = %s) ORDER BY stop.seq
 LIMIT 1) AS stop_seq
FROM chain INNER JOIN entries AS first ON first.session_id = %s AND first.seq = chain.segment_seq INNER JOIN entries AS parent ON parent.session_id = %s AND parent.id = first.parent_id
WHERE chain.round < 989 AND parent.seq > %s AND (chain.base_depth IS NULL OR chain.base_depth - parent.depth < %s))
 SELECT chain.id, CAST(chain.depth AS BINARY) AS parent_id, -1 - chain.round AS seq, chain.seq AS timestamp, CAST(chain.segment_seq AS BINARY) AS type, CAST(chain.stop_seq AS BINARY) AS custom_type, NULL AS payload
FROM chain UNION ALL SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type, anon_1.payload
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type, entries.payload AS payload
FROM entries FORCE INDEX (ix_entries_session_id_segment_seq_seq)
WHERE entries.session_id = %s AND entries.segment_seq = (SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s AND start.id = %s) AND entries.seq >= %s AND entries.seq <= (SELECT start.seq
FROM entries AS start
WHERE start.session_id = %s AND start.id = %s) ORDER BY entries.seq
 LIMIT %s) AS anon_1;

-- branch head(asc, payload=True, stops=True, filtered=True)
WITH RECURSIVE chain(round, id, segment_seq, seq, depth, base_depth, stop_seq) AS
(SELECT 0 AS round, start.id AS id, start.segment_seq AS segment_seq, start.seq AS seq, start.depth AS depth, CASE WHEN (start.seq < %s) THEN start.depth END AS base_depth, (SELECT stop.seq
FROM entries AS stop FORCE INDEX (ix_entries_session_id_segment_seq_seq)
WHERE stop.session_id = %s AND stop.segment_seq = start.segment_seq AND stop.seq >= 0 AND stop.seq <= start.seq AND (stop.type = %s OR stop.id = %s) ORDER BY stop.seq
 LIMIT 1) AS stop_seq
FROM entries AS start
WHERE start.session_id = %s AND start.id = %s UNION ALL SELECT chain.round + 1 AS round, parent.id AS id, parent.segment_seq AS segment_seq, parent.seq AS seq, parent.depth AS depth, CASE WHEN (chain.base_depth IS NOT NULL) THEN chain.base_depth WHEN (parent.seq < %s) THEN parent.depth END AS base_depth, (SELECT stop.seq
FROM entries AS stop FORCE INDEX (ix_entries_session_id_segment_seq_seq)
WHERE stop.session_id = %s AND stop.segment_seq = parent.segment_seq AND stop.seq >= 0 AND stop.seq <= parent.seq AND (stop.type = %s OR stop.id = %s) ORDER BY stop.seq
 LIMIT 1) AS stop_seq
FROM chain INNER JOIN entries AS first ON first.session_id = %s AND first.seq = chain.segment_seq INNER JOIN entries AS parent ON parent.session_id = %s AND parent.id = first.parent_id
WHERE chain.round < 989 AND parent.seq > %s AND (chain.base_depth IS NULL OR chain.base_depth - parent.depth < %s))
 SELECT chain.id, CAST(chain.depth AS BINARY) AS parent_id, -1 - chain.round AS seq, chain.seq AS timestamp, CAST(chain.segment_seq AS BINARY) AS type, CAST(chain.stop_seq AS BINARY) AS custom_type, NULL AS payload
FROM chain UNION ALL SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type, anon_1.payload
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type, entries.payload AS payload
FROM entries FORCE INDEX (ix_entries_session_id_segment_seq_seq)
WHERE entries.session_id = %s AND entries.segment_seq = (SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s AND start.id = %s) AND entries.seq >= %s AND entries.seq <= (SELECT start.seq
FROM entries AS start
WHERE start.session_id = %s AND start.id = %s) AND (%s = '' OR entries.type = %s) AND (%s = '' OR entries.custom_type = %s) ORDER BY entries.seq
 LIMIT %s) AS anon_1;

-- branch head(desc, payload=False, stops=False, filtered=False)
WITH RECURSIVE chain(round, id, segment_seq, seq, depth, base_depth, stop_seq) AS
(SELECT 0 AS round, start.id AS id, start.segment_seq AS segment_seq, start.seq AS seq, start.depth AS depth, CASE WHEN (start.seq < %s) THEN start.depth END AS base_depth, CAST(NULL AS SIGNED INTEGER) AS stop_seq
FROM entries AS start
WHERE start.session_id = %s AND start.id = %s UNION ALL SELECT chain.round + 1 AS round, parent.id AS id, parent.segment_seq AS segment_seq, parent.seq AS seq, parent.depth AS depth, CASE WHEN (chain.base_depth IS NOT NULL) THEN chain.base_depth WHEN (parent.seq < %s) THEN parent.depth END AS base_depth, CAST(NULL AS SIGNED INTEGER) AS stop_seq
FROM chain INNER JOIN entries AS first ON first.session_id = %s AND first.seq = chain.segment_seq INNER JOIN entries AS parent ON parent.session_id = %s AND parent.id = first.parent_id
WHERE chain.round < 989 AND parent.seq > %s AND (chain.base_depth IS NULL OR chain.base_depth - parent.depth < %s))
 SELECT chain.id, CAST(chain.depth AS BINARY) AS parent_id, -1 - chain.round AS seq, chain.seq AS timestamp, CAST(chain.segment_seq AS BINARY) AS type, CAST(chain.stop_seq AS BINARY) AS custom_type
FROM chain UNION ALL SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type
FROM entries FORCE INDEX (ix_entries_session_id_segment_seq_seq)
WHERE entries.session_id = %s AND entries.segment_seq = (SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s AND start.id = %s) AND entries.seq >= %s AND entries.seq <= CASE WHEN ((SELECT start.seq
FROM entries AS start
WHERE start.session_id = %s AND start.id = %s) < %s) THEN (SELECT start.seq
FROM entries AS start
WHERE start.session_id = %s AND start.id = %s) ELSE %s - 1 END ORDER BY entries.seq DESC
 LIMIT %s) AS anon_1;

-- branch head(desc, payload=False, stops=False, filtered=True)
WITH RECURSIVE chain(round, id, segment_seq, seq, depth, base_depth, stop_seq) AS
(SELECT 0 AS round, start.id AS id, start.segment_seq AS segment_seq, start.seq AS seq, start.depth AS depth, CASE WHEN (start.seq < %s) THEN start.depth END AS base_depth, CAST(NULL AS SIGNED INTEGER) AS stop_seq
FROM entries AS start
WHERE start.session_id = %s AND start.id = %s UNION ALL SELECT chain.round + 1 AS round, parent.id AS id, parent.segment_seq AS segment_seq, parent.seq AS seq, parent.depth AS depth, CASE WHEN (chain.base_depth IS NOT NULL) THEN chain.base_depth WHEN (parent.seq < %s) THEN parent.depth END AS base_depth, CAST(NULL AS SIGNED INTEGER) AS stop_seq
FROM chain INNER JOIN entries AS first ON first.session_id = %s AND first.seq = chain.segment_seq INNER JOIN entries AS parent ON parent.session_id = %s AND parent.id = first.parent_id
WHERE chain.round < 989 AND parent.seq > %s AND (chain.base_depth IS NULL OR chain.base_depth - parent.depth < %s))
 SELECT chain.id, CAST(chain.depth AS BINARY) AS parent_id, -1 - chain.round AS seq, chain.seq AS timestamp, CAST(chain.segment_seq AS BINARY) AS type, CAST(chain.stop_seq AS BINARY) AS custom_type
FROM chain UNION ALL SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type
FROM entries FORCE INDEX (ix_entries_session_id_segment_seq_seq)
WHERE entries.session_id = %s AND entries.segment_seq = (SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s AND start.id = %s) AND entries.seq >= %s AND entries.seq <= CASE WHEN ((SELECT start.seq
FROM entries AS start
WHERE start.session_id = %s AND start.id = %s) < %s) THEN (SELECT start.seq
FROM entries AS start
WHERE start.session_id = %s AND start.id = %s) ELSE %s - 1 END AND (%s = '' OR entries.type = %s) AND (%s = '' OR entries.custom_type = %s) ORDER BY entries.seq DESC
 LIMIT %s) AS anon_1;

-- branch head(desc, payload=False, stops=True, filtered=False)
WITH RECURSIVE chain(round, id, segment_seq, seq, depth, base_depth, stop_seq) AS
(SELECT 0 AS round, start.id AS id, start.segment_seq AS segment_seq, start.seq AS seq, start.depth AS depth, CASE WHEN (start.seq < %s) THEN start.depth END AS base_depth, (SELECT stop.seq
FROM entries AS stop FORCE INDEX (ix_entries_session_id_segment_seq_seq)
WHERE stop.session_id = %s AND stop.segment_seq = start.segment_seq AND stop.seq >= 0 AND stop.seq <= start.seq AND (stop.type = %s OR stop.id = %s) ORDER BY stop.seq DESC
 LIMIT 1) AS stop_seq
FROM entries AS start
WHERE start.session_id = %s AND start.id = %s UNION ALL SELECT chain.round + 1 AS round, parent.id AS id, parent.segment_seq AS segment_seq, parent.seq AS seq, parent.depth AS depth, CASE WHEN (chain.base_depth IS NOT NULL) THEN chain.base_depth WHEN (parent.seq < %s) THEN parent.depth END AS base_depth, (SELECT stop.seq
FROM entries AS stop FORCE INDEX (ix_entries_session_id_segment_seq_seq)
WHERE stop.session_id = %s AND stop.segment_seq = parent.segment_seq AND stop.seq >= 0 AND stop.seq <= parent.seq AND (stop.type = %s OR stop.id = %s) ORDER BY stop.seq DESC
 LIMIT 1) AS stop_seq
FROM chain INNER JOIN entries AS first ON first.session_id = %s AND first.seq = chain.segment_seq INNER JOIN entries AS parent ON parent.session_id = %s AND parent.id = first.parent_id
WHERE chain.round < 989 AND parent.seq > %s AND (chain.base_depth IS NULL OR chain.base_depth - parent.depth < %s) AND chain.stop_seq IS NULL)
 SELECT chain.id, CAST(chain.depth AS BINARY) AS parent_id, -1 - chain.round AS seq, chain.seq AS timestamp, CAST(chain.segment_seq AS BINARY) AS type, CAST(chain.stop_seq AS BINARY) AS custom_type
FROM chain UNION ALL SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type
FROM entries FORCE INDEX (ix_entries_session_id_segment_seq_seq)
WHERE entries.session_id = %s AND entries.segment_seq = (SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s AND start.id = %s) AND entries.seq >= %s AND entries.seq <= CASE WHEN ((SELECT start.seq
FROM entries AS start
WHERE start.session_id = %s AND start.id = %s) < %s) THEN (SELECT start.seq
FROM entries AS start
WHERE start.session_id = %s AND start.id = %s) ELSE %s - 1 END ORDER BY entries.seq DESC
 LIMIT %s) AS anon_1;

-- branch head(desc, payload=False, stops=True, filtered=True)
WITH RECURSIVE chain(round, id, segment_seq, seq, depth, base_depth, stop_seq) AS
(SELECT 0 AS round, start.id AS id, start.segment_seq AS segment_seq, start.seq AS seq, start.depth AS depth, CASE WHEN (start.seq < %s) THEN start.depth END AS base_depth, (SELECT stop.seq
FROM entries AS stop FORCE INDEX (ix_entries_session_id_segment_seq_seq)
WHERE stop.session_id = %s AND stop.segment_seq = start.segment_seq AND stop.seq >= 0 AND stop.seq <= start.seq AND (stop.type = %s OR stop.id = %s) ORDER BY stop.seq DESC
 LIMIT 1) AS stop_seq
FROM entries AS start
WHERE start.session_id = %s AND start.id = %s UNION ALL SELECT chain.round + 1 AS round, parent.id AS id, parent.segment_seq AS segment_seq, parent.seq AS seq, parent.depth AS depth, CASE WHEN (chain.base_depth IS NOT NULL) THEN chain.base_depth WHEN (parent.seq < %s) THEN parent.depth END AS base_depth, (SELECT stop.seq
FROM entries AS stop FORCE INDEX (ix_entries_session_id_segment_seq_seq)
WHERE stop.session_id = %s AND stop.segment_seq = parent.segment_seq AND stop.seq >= 0 AND stop.seq <= parent.seq AND (stop.type = %s OR stop.id = %s) ORDER BY stop.seq DESC
 LIMIT 1) AS stop_seq
FROM chain INNER JOIN entries AS first ON first.session_id = %s AND first.seq = chain.segment_seq INNER JOIN entries AS parent ON parent.session_id = %s AND parent.id = first.parent_id
WHERE chain.round < 989 AND parent.seq > %s AND (chain.base_depth IS NULL OR chain.base_depth - parent.depth < %s) AND chain.stop_seq IS NULL)
 SELECT chain.id, CAST(chain.depth AS BINARY) AS parent_id, -1 - chain.round AS seq, chain.seq AS timestamp, CAST(chain.segment_seq AS BINARY) AS type, CAST(chain.stop_seq AS BINARY) AS custom_type
FROM chain UNION ALL SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type
FROM entries FORCE INDEX (ix_entries_session_id_segment_seq_seq)
WHERE entries.session_id = %s AND entries.segment_seq = (SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s AND start.id = %s) AND entries.seq >= %s AND entries.seq <= CASE WHEN ((SELECT start.seq
FROM entries AS start
WHERE start.session_id = %s AND start.id = %s) < %s) THEN (SELECT start.seq
FROM entries AS start
WHERE start.session_id = %s AND start.id = %s) ELSE %s - 1 END AND (%s = '' OR entries.type = %s) AND (%s = '' OR entries.custom_type = %s) ORDER BY entries.seq DESC
 LIMIT %s) AS anon_1;

-- branch head(desc, payload=True, stops=False, filtered=False)
WITH RECURSIVE chain(round, id, segment_seq, seq, depth, base_depth, stop_seq) AS
(SELECT 0 AS round, start.id AS id, start.segment_seq AS segment_seq, start.seq AS seq, start.depth AS depth, CASE WHEN (start.seq < %s) THEN start.depth END AS base_depth, CAST(NULL AS SIGNED INTEGER) AS stop_seq
FROM entries AS start
WHERE start.session_id = %s AND start.id = %s UNION ALL SELECT chain.round + 1 AS round, parent.id AS id, parent.segment_seq AS segment_seq, parent.seq AS seq, parent.depth AS depth, CASE WHEN (chain.base_depth IS NOT NULL) THEN chain.base_depth WHEN (parent.seq < %s) THEN parent.depth END AS base_depth, CAST(NULL AS SIGNED INTEGER) AS stop_seq
FROM chain INNER JOIN entries AS first ON first.session_id = %s AND first.seq = chain.segment_seq INNER JOIN entries AS parent ON parent.session_id = %s AND parent.id = first.parent_id
WHERE chain.round < 989 AND parent.seq > %s AND (chain.base_depth IS NULL OR chain.base_depth - parent.depth < %s))
 SELECT chain.id, CAST(chain.depth AS BINARY) AS parent_id, -1 - chain.round AS seq, chain.seq AS timestamp, CAST(chain.segment_seq AS BINARY) AS type, CAST(chain.stop_seq AS BINARY) AS custom_type, NULL AS payload
FROM chain UNION ALL SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type, anon_1.payload
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type, entries.payload AS payload
FROM entries FORCE INDEX (ix_entries_session_id_segment_seq_seq)
WHERE entries.session_id = %s AND entries.segment_seq = (SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s AND start.id = %s) AND entries.seq >= %s AND entries.seq <= CASE WHEN ((SELECT start.seq
FROM entries AS start
WHERE start.session_id = %s AND start.id = %s) < %s) THEN (SELECT start.seq
FROM entries AS start
WHERE start.session_id = %s AND start.id = %s) ELSE %s - 1 END ORDER BY entries.seq DESC
 LIMIT %s) AS anon_1;

-- branch head(desc, payload=True, stops=False, filtered=True)
WITH RECURSIVE chain(round, id, segment_seq, seq, depth, base_depth, stop_seq) AS
(SELECT 0 AS round, start.id AS id, start.segment_seq AS segment_seq, start.seq AS seq, start.depth AS depth, CASE WHEN (start.seq < %s) THEN start.depth END AS base_depth, CAST(NULL AS SIGNED INTEGER) AS stop_seq
FROM entries AS start
WHERE start.session_id = %s AND start.id = %s UNION ALL SELECT chain.round + 1 AS round, parent.id AS id, parent.segment_seq AS segment_seq, parent.seq AS seq, parent.depth AS depth, CASE WHEN (chain.base_depth IS NOT NULL) THEN chain.base_depth WHEN (parent.seq < %s) THEN parent.depth END AS base_depth, CAST(NULL AS SIGNED INTEGER) AS stop_seq
FROM chain INNER JOIN entries AS first ON first.session_id = %s AND first.seq = chain.segment_seq INNER JOIN entries AS parent ON parent.session_id = %s AND parent.id = first.parent_id
WHERE chain.round < 989 AND parent.seq > %s AND (chain.base_depth IS NULL OR chain.base_depth - parent.depth < %s))
 SELECT chain.id, CAST(chain.depth AS BINARY) AS parent_id, -1 - chain.round AS seq, chain.seq AS timestamp, CAST(chain.segment_seq AS BINARY) AS type, CAST(chain.stop_seq AS BINARY) AS custom_type, NULL AS payload
FROM chain UNION ALL SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type, anon_1.payload
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type, entries.payload AS payload
FROM entries FORCE INDEX (ix_entries_session_id_segment_seq_seq)
WHERE entries.session_id = %s AND entries.segment_seq = (SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s AND start.id = %s) AND entries.seq >= %s AND entries.seq <= CASE WHEN ((SELECT start.seq
FROM entries AS start
WHERE start.session_id = %s AND start.id = %s) < %s) THEN (SELECT start.seq
FROM entries AS start
WHERE start.session_id = %s AND start.id = %s) ELSE %s - 1 END AND (%s = '' OR entries.type = %s) AND (%s = '' OR entries.custom_type = %s) ORDER BY entries.seq DESC
 LIMIT %s) AS anon_1;

-- branch head(desc, payload=True, stops=True, filtered=False)
WITH RECURSIVE chain(round, id, segment_seq, seq, depth, base_depth, stop_seq) AS
(SELECT 0 AS round, start.id AS id, start.segment_seq AS segment_seq, start.seq AS seq, start.depth AS depth, CASE WHEN (start.seq < %s) THEN start.depth END AS base_depth, (SELECT stop.seq
FROM entries AS stop FORCE INDEX (ix_entries_session_id_segment_seq_seq)
WHERE stop.session_id = %s AND stop.segment_seq = start.segment_seq AND stop.seq >= 0 AND stop.seq <= start.seq AND (stop.type = %s OR stop.id = %s) ORDER BY stop.seq DESC
 LIMIT 1) AS stop_seq
FROM entries AS start
WHERE start.session_id = %s AND start.id = %s UNION ALL SELECT chain.round + 1 AS round, parent.id AS id, parent.segment_seq AS segment_seq, parent.seq AS seq, parent.depth AS depth, CASE WHEN (chain.base_depth IS NOT NULL) THEN chain.base_depth WHEN (parent.seq < %s) THEN parent.depth END AS base_depth, (SELECT stop.seq
FROM entries AS stop FORCE INDEX (ix_entries_session_id_segment_seq_seq)
WHERE stop.session_id = %s AND stop.segment_seq = parent.segment_seq AND stop.seq >= 0 AND stop.seq <= parent.seq AND (stop.type = %s OR stop.id = %s) ORDER BY stop.seq DESC
 LIMIT 1) AS stop_seq
FROM chain INNER JOIN entries AS first ON first.session_id = %s AND first.seq = chain.segment_seq INNER JOIN entries AS parent ON parent.session_id = %s AND parent.id = first.parent_id
WHERE chain.round < 989 AND parent.seq > %s AND (chain.base_depth IS NULL OR chain.base_depth - parent.depth < %s) AND chain.stop_seq IS NULL)
 SELECT chain.id, CAST(chain.depth AS BINARY) AS parent_id, -1 - chain.round AS seq, chain.seq AS timestamp, CAST(chain.segment_seq AS BINARY) AS type, CAST(chain.stop_seq AS BINARY) AS custom_type, NULL AS payload
FROM chain UNION ALL SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type, anon_1.payload
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type, entries.payload AS payload
FROM entries FORCE INDEX (ix_entries_session_id_segment_seq_seq)
WHERE entries.session_id = %s AND entries.segment_seq = (SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s AND start.id = %s) AND entries.seq >= %s AND entries.seq <= CASE WHEN ((SELECT start.seq
FROM entries AS start
WHERE start.session_id = %s AND start.id = %s) < %s) THEN (SELECT start.seq
FROM entries AS start
WHERE start.session_id = %s AND start.id = %s) ELSE %s - 1 END ORDER BY entries.seq DESC
 LIMIT %s) AS anon_1;

-- branch head(desc, payload=True, stops=True, filtered=True)
WITH RECURSIVE chain(round, id, segment_seq, seq, depth, base_depth, stop_seq) AS
(SELECT 0 AS round, start.id AS id, start.segment_seq AS segment_seq, start.seq AS seq, start.depth AS depth, CASE WHEN (start.seq < %s) THEN start.depth END AS base_depth, (SELECT stop.seq
FROM entries AS stop FORCE INDEX (ix_entries_session_id_segment_seq_seq)
WHERE stop.session_id = %s AND stop.segment_seq = start.segment_seq AND stop.seq >= 0 AND stop.seq <= start.seq AND (stop.type = %s OR stop.id = %s) ORDER BY stop.seq DESC
 LIMIT 1) AS stop_seq
FROM entries AS start
WHERE start.session_id = %s AND start.id = %s UNION ALL SELECT chain.round + 1 AS round, parent.id AS id, parent.segment_seq AS segment_seq, parent.seq AS seq, parent.depth AS depth, CASE WHEN (chain.base_depth IS NOT NULL) THEN chain.base_depth WHEN (parent.seq < %s) THEN parent.depth END AS base_depth, (SELECT stop.seq
FROM entries AS stop FORCE INDEX (ix_entries_session_id_segment_seq_seq)
WHERE stop.session_id = %s AND stop.segment_seq = parent.segment_seq AND stop.seq >= 0 AND stop.seq <= parent.seq AND (stop.type = %s OR stop.id = %s) ORDER BY stop.seq DESC
 LIMIT 1) AS stop_seq
FROM chain INNER JOIN entries AS first ON first.session_id = %s AND first.seq = chain.segment_seq INNER JOIN entries AS parent ON parent.session_id = %s AND parent.id = first.parent_id
WHERE chain.round < 989 AND parent.seq > %s AND (chain.base_depth IS NULL OR chain.base_depth - parent.depth < %s) AND chain.stop_seq IS NULL)
 SELECT chain.id, CAST(chain.depth AS BINARY) AS parent_id, -1 - chain.round AS seq, chain.seq AS timestamp, CAST(chain.segment_seq AS BINARY) AS type, CAST(chain.stop_seq AS BINARY) AS custom_type, NULL AS payload
FROM chain UNION ALL SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type, anon_1.payload
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type, entries.payload AS payload
FROM entries FORCE INDEX (ix_entries_session_id_segment_seq_seq)
WHERE entries.session_id = %s AND entries.segment_seq = (SELECT start.segment_seq
FROM entries AS start
WHERE start.session_id = %s AND start.id = %s) AND entries.seq >= %s AND entries.seq <= CASE WHEN ((SELECT start.seq
FROM entries AS start
WHERE start.session_id = %s AND start.id = %s) < %s) THEN (SELECT start.seq
FROM entries AS start
WHERE start.session_id = %s AND start.id = %s) ELSE %s - 1 END AND (%s = '' OR entries.type = %s) AND (%s = '' OR entries.custom_type = %s) ORDER BY entries.seq DESC
 LIMIT %s) AS anon_1;

-- branch arms(asc, payload=False, filtered=False), size 1
SELECT entries.id, entries.parent_id, entries.seq, entries.timestamp, entries.type, entries.custom_type
FROM entries FORCE INDEX (ix_entries_session_id_segment_seq_seq)
WHERE entries.session_id = %s AND entries.segment_seq = %s AND entries.seq >= %s AND entries.seq <= %s ORDER BY entries.seq
 LIMIT %s;

-- branch arms(asc, payload=False, filtered=False), size 2
SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type
FROM entries FORCE INDEX (ix_entries_session_id_segment_seq_seq)
WHERE entries.session_id = %s AND entries.segment_seq = %s AND entries.seq >= %s AND entries.seq <= %s ORDER BY entries.seq
 LIMIT %s) AS anon_1 UNION ALL SELECT anon_2.id, anon_2.parent_id, anon_2.seq, anon_2.timestamp, anon_2.type, anon_2.custom_type
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type
FROM entries FORCE INDEX (ix_entries_session_id_segment_seq_seq)
WHERE entries.session_id = %s AND entries.segment_seq = %s AND entries.seq >= %s AND entries.seq <= %s ORDER BY entries.seq
 LIMIT %s) AS anon_2;

-- branch arms(asc, payload=False, filtered=True), size 1
SELECT entries.id, entries.parent_id, entries.seq, entries.timestamp, entries.type, entries.custom_type
FROM entries FORCE INDEX (ix_entries_session_id_segment_seq_seq)
WHERE entries.session_id = %s AND entries.segment_seq = %s AND entries.seq >= %s AND entries.seq <= %s AND (%s = '' OR entries.type = %s) AND (%s = '' OR entries.custom_type = %s) ORDER BY entries.seq
 LIMIT %s;

-- branch arms(asc, payload=False, filtered=True), size 2
SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type
FROM entries FORCE INDEX (ix_entries_session_id_segment_seq_seq)
WHERE entries.session_id = %s AND entries.segment_seq = %s AND entries.seq >= %s AND entries.seq <= %s AND (%s = '' OR entries.type = %s) AND (%s = '' OR entries.custom_type = %s) ORDER BY entries.seq
 LIMIT %s) AS anon_1 UNION ALL SELECT anon_2.id, anon_2.parent_id, anon_2.seq, anon_2.timestamp, anon_2.type, anon_2.custom_type
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type
FROM entries FORCE INDEX (ix_entries_session_id_segment_seq_seq)
WHERE entries.session_id = %s AND entries.segment_seq = %s AND entries.seq >= %s AND entries.seq <= %s AND (%s = '' OR entries.type = %s) AND (%s = '' OR entries.custom_type = %s) ORDER BY entries.seq
 LIMIT %s) AS anon_2;

-- branch arms(asc, payload=True, filtered=False), size 1
SELECT entries.id, entries.parent_id, entries.seq, entries.timestamp, entries.type, entries.custom_type, entries.payload
FROM entries FORCE INDEX (ix_entries_session_id_segment_seq_seq)
WHERE entries.session_id = %s AND entries.segment_seq = %s AND entries.seq >= %s AND entries.seq <= %s ORDER BY entries.seq
 LIMIT %s;

-- branch arms(asc, payload=True, filtered=False), size 2
SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type, anon_1.payload
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type, entries.payload AS payload
FROM entries FORCE INDEX (ix_entries_session_id_segment_seq_seq)
WHERE entries.session_id = %s AND entries.segment_seq = %s AND entries.seq >= %s AND entries.seq <= %s ORDER BY entries.seq
 LIMIT %s) AS anon_1 UNION ALL SELECT anon_2.id, anon_2.parent_id, anon_2.seq, anon_2.timestamp, anon_2.type, anon_2.custom_type, anon_2.payload
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type, entries.payload AS payload
FROM entries FORCE INDEX (ix_entries_session_id_segment_seq_seq)
WHERE entries.session_id = %s AND entries.segment_seq = %s AND entries.seq >= %s AND entries.seq <= %s ORDER BY entries.seq
 LIMIT %s) AS anon_2;

-- branch arms(asc, payload=True, filtered=True), size 1
SELECT entries.id, entries.parent_id, entries.seq, entries.timestamp, entries.type, entries.custom_type, entries.payload
FROM entries FORCE INDEX (ix_entries_session_id_segment_seq_seq)
WHERE entries.session_id = %s AND entries.segment_seq = %s AND entries.seq >= %s AND entries.seq <= %s AND (%s = '' OR entries.type = %s) AND (%s = '' OR entries.custom_type = %s) ORDER BY entries.seq
 LIMIT %s;

-- branch arms(asc, payload=True, filtered=True), size 2
SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type, anon_1.payload
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type, entries.payload AS payload
FROM entries FORCE INDEX (ix_entries_session_id_segment_seq_seq)
WHERE entries.session_id = %s AND entries.segment_seq = %s AND entries.seq >= %s AND entries.seq <= %s AND (%s = '' OR entries.type = %s) AND (%s = '' OR entries.custom_type = %s) ORDER BY entries.seq
 LIMIT %s) AS anon_1 UNION ALL SELECT anon_2.id, anon_2.parent_id, anon_2.seq, anon_2.timestamp, anon_2.type, anon_2.custom_type, anon_2.payload
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type, entries.payload AS payload
FROM entries FORCE INDEX (ix_entries_session_id_segment_seq_seq)
WHERE entries.session_id = %s AND entries.segment_seq = %s AND entries.seq >= %s AND entries.seq <= %s AND (%s = '' OR entries.type = %s) AND (%s = '' OR entries.custom_type = %s) ORDER BY entries.seq
 LIMIT %s) AS anon_2;

-- branch arms(desc, payload=False, filtered=False), size 1
SELECT entries.id, entries.parent_id, entries.seq, entries.timestamp, entries.type, entries.custom_type
FROM entries FORCE INDEX (ix_entries_session_id_segment_seq_seq)
WHERE entries.session_id = %s AND entries.segment_seq = %s AND entries.seq >= %s AND entries.seq <= %s ORDER BY entries.seq DESC
 LIMIT %s;

-- branch arms(desc, payload=False, filtered=False), size 2
SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type
FROM entries FORCE INDEX (ix_entries_session_id_segment_seq_seq)
WHERE entries.session_id = %s AND entries.segment_seq = %s AND entries.seq >= %s AND entries.seq <= %s ORDER BY entries.seq DESC
 LIMIT %s) AS anon_1 UNION ALL SELECT anon_2.id, anon_2.parent_id, anon_2.seq, anon_2.timestamp, anon_2.type, anon_2.custom_type
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type
FROM entries FORCE INDEX (ix_entries_session_id_segment_seq_seq)
WHERE entries.session_id = %s AND entries.segment_seq = %s AND entries.seq >= %s AND entries.seq <= %s ORDER BY entries.seq DESC
 LIMIT %s) AS anon_2;

-- branch arms(desc, payload=False, filtered=True), size 1
SELECT entries.id, entries.parent_id, entries.seq, entries.timestamp, entries.type, entries.custom_type
FROM entries FORCE INDEX (ix_entries_session_id_segment_seq_seq)
WHERE entries.session_id = %s AND entries.segment_seq = %s AND entries.seq >= %s AND entries.seq <= %s AND (%s = '' OR entries.type = %s) AND (%s = '' OR entries.custom_type = %s) ORDER BY entries.seq DESC
 LIMIT %s;

-- branch arms(desc, payload=False, filtered=True), size 2
SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type
FROM entries FORCE INDEX (ix_entries_session_id_segment_seq_seq)
WHERE entries.session_id = %s AND entries.segment_seq = %s AND entries.seq >= %s AND entries.seq <= %s AND (%s = '' OR entries.type = %s) AND (%s = '' OR entries.custom_type = %s) ORDER BY entries.seq DESC
 LIMIT %s) AS anon_1 UNION ALL SELECT anon_2.id, anon_2.parent_id, anon_2.seq, anon_2.timestamp, anon_2.type, anon_2.custom_type
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type
FROM entries FORCE INDEX (ix_entries_session_id_segment_seq_seq)
WHERE entries.session_id = %s AND entries.segment_seq = %s AND entries.seq >= %s AND entries.seq <= %s AND (%s = '' OR entries.type = %s) AND (%s = '' OR entries.custom_type = %s) ORDER BY entries.seq DESC
 LIMIT %s) AS anon_2;

-- branch arms(desc, payload=True, filtered=False), size 1
SELECT entries.id, entries.parent_id, entries.seq, entries.timestamp, entries.type, entries.custom_type, entries.payload
FROM entries FORCE INDEX (ix_entries_session_id_segment_seq_seq)
WHERE entries.session_id = %s AND entries.segment_seq = %s AND entries.seq >= %s AND entries.seq <= %s ORDER BY entries.seq DESC
 LIMIT %s;

-- branch arms(desc, payload=True, filtered=False), size 2
SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type, anon_1.payload
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type, entries.payload AS payload
FROM entries FORCE INDEX (ix_entries_session_id_segment_seq_seq)
WHERE entries.session_id = %s AND entries.segment_seq = %s AND entries.seq >= %s AND entries.seq <= %s ORDER BY entries.seq DESC
 LIMIT %s) AS anon_1 UNION ALL SELECT anon_2.id, anon_2.parent_id, anon_2.seq, anon_2.timestamp, anon_2.type, anon_2.custom_type, anon_2.payload
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type, entries.payload AS payload
FROM entries FORCE INDEX (ix_entries_session_id_segment_seq_seq)
WHERE entries.session_id = %s AND entries.segment_seq = %s AND entries.seq >= %s AND entries.seq <= %s ORDER BY entries.seq DESC
 LIMIT %s) AS anon_2;

-- branch arms(desc, payload=True, filtered=True), size 1
SELECT entries.id, entries.parent_id, entries.seq, entries.timestamp, entries.type, entries.custom_type, entries.payload
FROM entries FORCE INDEX (ix_entries_session_id_segment_seq_seq)
WHERE entries.session_id = %s AND entries.segment_seq = %s AND entries.seq >= %s AND entries.seq <= %s AND (%s = '' OR entries.type = %s) AND (%s = '' OR entries.custom_type = %s) ORDER BY entries.seq DESC
 LIMIT %s;

-- branch arms(desc, payload=True, filtered=True), size 2
SELECT anon_1.id, anon_1.parent_id, anon_1.seq, anon_1.timestamp, anon_1.type, anon_1.custom_type, anon_1.payload
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type, entries.payload AS payload
FROM entries FORCE INDEX (ix_entries_session_id_segment_seq_seq)
WHERE entries.session_id = %s AND entries.segment_seq = %s AND entries.seq >= %s AND entries.seq <= %s AND (%s = '' OR entries.type = %s) AND (%s = '' OR entries.custom_type = %s) ORDER BY entries.seq DESC
 LIMIT %s) AS anon_1 UNION ALL SELECT anon_2.id, anon_2.parent_id, anon_2.seq, anon_2.timestamp, anon_2.type, anon_2.custom_type, anon_2.payload
FROM (SELECT entries.id AS id, entries.parent_id AS parent_id, entries.seq AS seq, entries.timestamp AS timestamp, entries.type AS type, entries.custom_type AS custom_type, entries.payload AS payload
FROM entries FORCE INDEX (ix_entries_session_id_segment_seq_seq)
WHERE entries.session_id = %s AND entries.segment_seq = %s AND entries.seq >= %s AND entries.seq <= %s AND (%s = '' OR entries.type = %s) AND (%s = '' OR entries.custom_type = %s) ORDER BY entries.seq DESC
 LIMIT %s) AS anon_2;
