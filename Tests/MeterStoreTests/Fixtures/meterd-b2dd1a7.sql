-- What a meterd of commit b2dd1a7 (steps 1 to 4) left when it was killed: a member of a cloud, a meter that it held the lease of,
-- a recording, settings of its own and another host's, two changes that no cloud has heard of. Dumped by Python's sqlite3.
PRAGMA application_id = 1296521009;
PRAGMA page_size = 512;
PRAGMA auto_vacuum = 2;
BEGIN TRANSACTION;
CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
INSERT INTO "grdb_migrations" VALUES('1 meters, settings, sample chunks');
INSERT INTO "grdb_migrations" VALUES('2 settings as records');
INSERT INTO "grdb_migrations" VALUES('3 seconds, minutes, hours');
INSERT INTO "grdb_migrations" VALUES('4 recordings that go on');
CREATE TABLE history (
    id INTEGER PRIMARY KEY,
    type TEXT NOT NULL,
    name TEXT NOT NULL,
    property TEXT NOT NULL,
    kind TEXT NOT NULL,
    value ANY,
    stamp_ms INTEGER NOT NULL,
    stamp_counter INTEGER NOT NULL,
    stamp_host TEXT NOT NULL,
    -- What stands there now; new_kind is NULL where the record was deleted.
    new_kind TEXT,
    new_value ANY,
    by_ms INTEGER NOT NULL,
    by_counter INTEGER NOT NULL,
    by_host TEXT NOT NULL,
    learned_ms INTEGER NOT NULL
) STRICT;
INSERT INTO "history" VALUES(1,'DeviceSettings','02:00:00:00:25:0C','notes','string','of b',1795443442578,0,'5f59616a-c892-4dcf-a86e-9480638c71ca','string','of b, changed',1795443442751,0,'5f59616a-c892-4dcf-a86e-9480638c71ca',1795443442818);
INSERT INTO "history" VALUES(2,'Recording','42266b5e-fbc5-4bf7-b670-e8aad98dc59c/02%3A00%3A00%3A00%3A25%3A0C/1/1795443443208','current_A_seconds','double',0.0,1795443443218,20,'42266b5e-fbc5-4bf7-b670-e8aad98dc59c','double',3.000095377,1795443447294,6,'42266b5e-fbc5-4bf7-b670-e8aad98dc59c',1795443447289);
INSERT INTO "history" VALUES(3,'Recording','42266b5e-fbc5-4bf7-b670-e8aad98dc59c/02%3A00%3A00%3A00%3A25%3A0C/1/1795443443208','power_W_seconds','double',0.0,1795443443218,24,'42266b5e-fbc5-4bf7-b670-e8aad98dc59c','double',3.000095377,1795443447294,14,'42266b5e-fbc5-4bf7-b670-e8aad98dc59c',1795443447289);
INSERT INTO "history" VALUES(4,'Recording','42266b5e-fbc5-4bf7-b670-e8aad98dc59c/02%3A00%3A00%3A00%3A25%3A0C/1/1795443443208','readings','int',0,1795443443218,25,'42266b5e-fbc5-4bf7-b670-e8aad98dc59c','int',4,1795443447294,15,'42266b5e-fbc5-4bf7-b670-e8aad98dc59c',1795443447289);
INSERT INTO "history" VALUES(5,'Recording','42266b5e-fbc5-4bf7-b670-e8aad98dc59c/02%3A00%3A00%3A00%3A25%3A0C/1/1795443443208','recorded_ms','int',0,1795443443218,26,'42266b5e-fbc5-4bf7-b670-e8aad98dc59c','int',3000,1795443447294,16,'42266b5e-fbc5-4bf7-b670-e8aad98dc59c',1795443447289);
INSERT INTO "history" VALUES(6,'Recording','42266b5e-fbc5-4bf7-b670-e8aad98dc59c/02%3A00%3A00%3A00%3A25%3A0C/1/1795443443208','temperature_C_seconds','double',0.0,1795443443218,28,'42266b5e-fbc5-4bf7-b670-e8aad98dc59c','double',3.000095377,1795443447294,20,'42266b5e-fbc5-4bf7-b670-e8aad98dc59c',1795443447289);
INSERT INTO "history" VALUES(7,'Recording','42266b5e-fbc5-4bf7-b670-e8aad98dc59c/02%3A00%3A00%3A00%3A25%3A0C/1/1795443443208','until_ms','int',1795443443208,1795443443218,30,'42266b5e-fbc5-4bf7-b670-e8aad98dc59c','int',1795443447289,1795443447294,21,'42266b5e-fbc5-4bf7-b670-e8aad98dc59c',1795443447289);
INSERT INTO "history" VALUES(8,'Recording','42266b5e-fbc5-4bf7-b670-e8aad98dc59c/02%3A00%3A00%3A00%3A25%3A0C/1/1795443443208','voltage_V_seconds','double',0.0,1795443443218,31,'42266b5e-fbc5-4bf7-b670-e8aad98dc59c','double',3.000095377,1795443447294,25,'42266b5e-fbc5-4bf7-b670-e8aad98dc59c',1795443447289);
INSERT INTO "history" VALUES(9,'DeviceSettings','02:00:00:00:25:0C','notes','string','of b, changed',1795443442751,0,'5f59616a-c892-4dcf-a86e-9480638c71ca','string','of a, not told',1795443448136,0,'42266b5e-fbc5-4bf7-b670-e8aad98dc59c',1795443448132);
INSERT INTO "history" VALUES(10,'DeviceSettings','02:00:00:00:25:0C','name','string','Desk',1795443442514,0,'42266b5e-fbc5-4bf7-b670-e8aad98dc59c','null',NULL,1795443448194,0,'42266b5e-fbc5-4bf7-b670-e8aad98dc59c',1795443448189);
CREATE TABLE host (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    id TEXT NOT NULL,
    -- A digest of the machine's own id: a copied card finds another one. NULL until it is first told.
    machine TEXT,
    -- Of the run that used the file last.
    session TEXT,
    -- The greatest stamp given out or seen.
    clock_ms INTEGER NOT NULL DEFAULT 0,
    clock_counter INTEGER NOT NULL DEFAULT 0,
    -- The greatest stamp that the cloud accepted or sent.
    cloud_ms INTEGER NOT NULL DEFAULT 0,
    cloud_counter INTEGER NOT NULL DEFAULT 0,
    -- Of the cloud's store that the tokens belong to.
    epoch TEXT
) STRICT;
INSERT INTO "host" VALUES(1,'42266b5e-fbc5-4bf7-b670-e8aad98dc59c','0000000000000000000000000000000000000000000000000000000000000001','d7011e12-fc62-445a-896b-0bb39da8f86c',1795443448194,0,1795443447294,51,'56d8e417-bcc1-40b6-a8d2-98eaf9dd4c09');
CREATE TABLE meter (
    id TEXT PRIMARY KEY NOT NULL,
    model TEXT,
    transport TEXT,
    link TEXT,
    is_declared INTEGER NOT NULL DEFAULT 0,
    is_wanted INTEGER NOT NULL DEFAULT 0,
    last_seen_ms INTEGER
) STRICT, WITHOUT ROWID;
INSERT INTO "meter" VALUES('02:00:00:00:25:0C','um25c','serial','/dev/pts/0',1,1,1795443442515);
CREATE TABLE meter_ref (
    ref INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE outbox (
    record INTEGER NOT NULL REFERENCES record (id),
    property TEXT NOT NULL,
    type TEXT NOT NULL,
    stamp_ms INTEGER NOT NULL,
    stamp_counter INTEGER NOT NULL,
    stamp_host TEXT NOT NULL,
    -- When it was written, by the clock that no calendar moves; NULL where this host did not write it.
    boot TEXT,
    since_boot_ms INTEGER,
    -- It was sent at least once, and nobody knows whether it arrived.
    is_told INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (record, property)
) STRICT, WITHOUT ROWID;
INSERT INTO "outbox" VALUES(3,'name','DeviceSettings',1795443448194,0,'42266b5e-fbc5-4bf7-b670-e8aad98dc59c','0dd4b0db-88fe-4c55-8e93-980b0e73a25f',4167431,0);
INSERT INTO "outbox" VALUES(3,'notes','DeviceSettings',1795443448136,0,'42266b5e-fbc5-4bf7-b670-e8aad98dc59c','0dd4b0db-88fe-4c55-8e93-980b0e73a25f',4167374,1);
CREATE TABLE parked (
    id INTEGER PRIMARY KEY,
    origin TEXT NOT NULL CHECK (origin IN ('page', 'push')),
    type TEXT NOT NULL,
    name TEXT NOT NULL,
    reason TEXT NOT NULL,
    raw TEXT NOT NULL,
    learned_ms INTEGER NOT NULL,
    UNIQUE (origin, type, name)
) STRICT;
CREATE TABLE progress (
    type TEXT PRIMARY KEY NOT NULL,
    token TEXT,
    -- While the type is read anew: how far that has come. The token stays what it was until the end.
    is_refetching INTEGER NOT NULL DEFAULT 0,
    cursor TEXT,
    refetch INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
INSERT INTO "progress" VALUES('DeviceSettings','v1.56d8e417-bcc1-40b6-a8d2-98eaf9dd4c09.5',0,NULL,0);
INSERT INTO "progress" VALUES('Host','v1.56d8e417-bcc1-40b6-a8d2-98eaf9dd4c09.2',0,NULL,0);
INSERT INTO "progress" VALUES('MeterAlias','v1.56d8e417-bcc1-40b6-a8d2-98eaf9dd4c09.1',0,NULL,0);
INSERT INTO "progress" VALUES('Recording','v1.56d8e417-bcc1-40b6-a8d2-98eaf9dd4c09.1',0,NULL,0);
CREATE TABLE rebuild (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    version INTEGER NOT NULL DEFAULT 0,
    cursor_type TEXT,
    cursor_name TEXT,
    scanned INTEGER NOT NULL DEFAULT 0,
    folded INTEGER NOT NULL DEFAULT 0,
    is_complete INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO "rebuild" VALUES(1,1,NULL,NULL,0,0,1);
CREATE TABLE record (
    id INTEGER PRIMARY KEY,
    type TEXT NOT NULL,
    name TEXT NOT NULL,
    deleted_ms INTEGER,
    deleted_counter INTEGER,
    deleted_host TEXT,
    merged_into TEXT,
    -- When this host learned of the deletion, milliseconds since 1970 by its own calendar.
    deletion_learned_ms INTEGER,
    -- The last refetch (progress.refetch) that the record was on a page of.
    seen_in INTEGER NOT NULL DEFAULT 0,
    UNIQUE (type, name)
) STRICT;
INSERT INTO "record" VALUES(1,'Host','42266b5e-fbc5-4bf7-b670-e8aad98dc59c',NULL,NULL,NULL,NULL,NULL,0);
INSERT INTO "record" VALUES(2,'Host','5f59616a-c892-4dcf-a86e-9480638c71ca',NULL,NULL,NULL,NULL,NULL,0);
INSERT INTO "record" VALUES(3,'DeviceSettings','02:00:00:00:25:0C',NULL,NULL,NULL,NULL,NULL,0);
INSERT INTO "record" VALUES(4,'Recording','42266b5e-fbc5-4bf7-b670-e8aad98dc59c/02%3A00%3A00%3A00%3A25%3A0C/1/1795443443208',NULL,NULL,NULL,NULL,NULL,0);
CREATE TABLE register (
    record INTEGER NOT NULL REFERENCES record (id) ON DELETE CASCADE,
    property TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('null', 'bool', 'int', 'double', 'string')),
    value ANY,
    stamp_ms INTEGER NOT NULL,
    stamp_counter INTEGER NOT NULL,
    stamp_host TEXT NOT NULL,
    PRIMARY KEY (record, property)
) STRICT, WITHOUT ROWID;
INSERT INTO "register" VALUES(1,'name','string','attic',1795443441456,0,'42266b5e-fbc5-4bf7-b670-e8aad98dc59c');
INSERT INTO "register" VALUES(2,'name','string','bench',1795443441687,0,'5f59616a-c892-4dcf-a86e-9480638c71ca');
INSERT INTO "register" VALUES(3,'name','null',NULL,1795443448194,0,'42266b5e-fbc5-4bf7-b670-e8aad98dc59c');
INSERT INTO "register" VALUES(3,'notes','string','of a, not told',1795443448136,0,'42266b5e-fbc5-4bf7-b670-e8aad98dc59c');
INSERT INTO "register" VALUES(3,'poll-interval','int',1000,1795443442514,1,'42266b5e-fbc5-4bf7-b670-e8aad98dc59c');
INSERT INTO "register" VALUES(4,'charge_mAh','double',1.25118030435340288342e+00,1795443447294,26,'42266b5e-fbc5-4bf7-b670-e8aad98dc59c');
INSERT INTO "register" VALUES(4,'counter_charge_mAh','double',1.0,1795443447294,27,'42266b5e-fbc5-4bf7-b670-e8aad98dc59c');
INSERT INTO "register" VALUES(4,'counter_charge_mAh_jumps','int',0,1795443443218,16,'42266b5e-fbc5-4bf7-b670-e8aad98dc59c');
INSERT INTO "register" VALUES(4,'counter_charge_mAh_resets','int',0,1795443443218,17,'42266b5e-fbc5-4bf7-b670-e8aad98dc59c');
INSERT INTO "register" VALUES(4,'counter_energy_Wh','double',0.009,1795443447294,28,'42266b5e-fbc5-4bf7-b670-e8aad98dc59c');
INSERT INTO "register" VALUES(4,'counter_energy_Wh_jumps','int',0,1795443443218,18,'42266b5e-fbc5-4bf7-b670-e8aad98dc59c');
INSERT INTO "register" VALUES(4,'counter_energy_Wh_resets','int',0,1795443443218,19,'42266b5e-fbc5-4bf7-b670-e8aad98dc59c');
INSERT INTO "register" VALUES(4,'current_A_max','double',1.5117,1795443447294,29,'42266b5e-fbc5-4bf7-b670-e8aad98dc59c');
INSERT INTO "register" VALUES(4,'current_A_mean','double',1.50136863321204017118e+00,1795443447294,30,'42266b5e-fbc5-4bf7-b670-e8aad98dc59c');
INSERT INTO "register" VALUES(4,'current_A_min','double',1.4953,1795443447294,31,'42266b5e-fbc5-4bf7-b670-e8aad98dc59c');
INSERT INTO "register" VALUES(4,'current_A_seconds','double',3.000095377,1795443447294,32,'42266b5e-fbc5-4bf7-b670-e8aad98dc59c');
INSERT INTO "register" VALUES(4,'end','string','hand',1795443447294,33,'42266b5e-fbc5-4bf7-b670-e8aad98dc59c');
INSERT INTO "register" VALUES(4,'energy_Wh','double',6.25694549764126573682e-03,1795443447294,34,'42266b5e-fbc5-4bf7-b670-e8aad98dc59c');
INSERT INTO "register" VALUES(4,'gap_count','int',0,1795443443218,21,'42266b5e-fbc5-4bf7-b670-e8aad98dc59c');
INSERT INTO "register" VALUES(4,'gap_ms','int',0,1795443443218,22,'42266b5e-fbc5-4bf7-b670-e8aad98dc59c');
INSERT INTO "register" VALUES(4,'gaps','string','',1795443443218,23,'42266b5e-fbc5-4bf7-b670-e8aad98dc59c');
INSERT INTO "register" VALUES(4,'meter_charge_mAh','double',1.0,1795443447294,35,'42266b5e-fbc5-4bf7-b670-e8aad98dc59c');
INSERT INTO "register" VALUES(4,'meter_energy_Wh','double',5.99999999999999925753e-03,1795443447294,36,'42266b5e-fbc5-4bf7-b670-e8aad98dc59c');
INSERT INTO "register" VALUES(4,'power_W_max','double',7.5585,1795443447294,37,'42266b5e-fbc5-4bf7-b670-e8aad98dc59c');
INSERT INTO "register" VALUES(4,'power_W_mean','double',7.50809589728205395431e+00,1795443447294,38,'42266b5e-fbc5-4bf7-b670-e8aad98dc59c');
INSERT INTO "register" VALUES(4,'power_W_min','double',7.47650000000000058975e+00,1795443447294,39,'42266b5e-fbc5-4bf7-b670-e8aad98dc59c');
INSERT INTO "register" VALUES(4,'power_W_seconds','double',3.000095377,1795443447294,40,'42266b5e-fbc5-4bf7-b670-e8aad98dc59c');
INSERT INTO "register" VALUES(4,'readings','int',4,1795443447294,41,'42266b5e-fbc5-4bf7-b670-e8aad98dc59c');
INSERT INTO "register" VALUES(4,'recorded_ms','int',3000,1795443447294,42,'42266b5e-fbc5-4bf7-b670-e8aad98dc59c');
INSERT INTO "register" VALUES(4,'restarts','int',0,1795443443218,27,'42266b5e-fbc5-4bf7-b670-e8aad98dc59c');
INSERT INTO "register" VALUES(4,'temperature_C_max','double',33.0,1795443447294,43,'42266b5e-fbc5-4bf7-b670-e8aad98dc59c');
INSERT INTO "register" VALUES(4,'temperature_C_mean','double',33.0,1795443447294,44,'42266b5e-fbc5-4bf7-b670-e8aad98dc59c');
INSERT INTO "register" VALUES(4,'temperature_C_min','double',33.0,1795443447294,45,'42266b5e-fbc5-4bf7-b670-e8aad98dc59c');
INSERT INTO "register" VALUES(4,'temperature_C_seconds','double',3.000095377,1795443447294,46,'42266b5e-fbc5-4bf7-b670-e8aad98dc59c');
INSERT INTO "register" VALUES(4,'trigger','string','hand',1795443443218,29,'42266b5e-fbc5-4bf7-b670-e8aad98dc59c');
INSERT INTO "register" VALUES(4,'until_ms','int',1795443447289,1795443447294,47,'42266b5e-fbc5-4bf7-b670-e8aad98dc59c');
INSERT INTO "register" VALUES(4,'voltage_V_max','double',5.002,1795443447294,48,'42266b5e-fbc5-4bf7-b670-e8aad98dc59c');
INSERT INTO "register" VALUES(4,'voltage_V_mean','double',5.00083333193943246897e+00,1795443447294,49,'42266b5e-fbc5-4bf7-b670-e8aad98dc59c');
INSERT INTO "register" VALUES(4,'voltage_V_min','double',5.0,1795443447294,50,'42266b5e-fbc5-4bf7-b670-e8aad98dc59c');
INSERT INTO "register" VALUES(4,'voltage_V_seconds','double',3.000095377,1795443447294,51,'42266b5e-fbc5-4bf7-b670-e8aad98dc59c');
CREATE TABLE rollup (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    chunk INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO "rollup" VALUES(1,0);
CREATE TABLE running_recording (
    name TEXT NOT NULL,
    property TEXT NOT NULL,
    kind TEXT NOT NULL,
    value ANY,
    PRIMARY KEY (name, property)
) STRICT, WITHOUT ROWID;
CREATE TABLE sample_chunk (
    id INTEGER PRIMARY KEY,
    meter_ref INTEGER NOT NULL REFERENCES meter_ref (ref),
    first_ms INTEGER NOT NULL,
    last_ms INTEGER NOT NULL,
    count INTEGER NOT NULL CHECK (count > 0),
    bytes BLOB NOT NULL,
    CHECK (first_ms <= last_ms)
) STRICT;
CREATE TABLE sample_tier (
    id INTEGER PRIMARY KEY,
    tier INTEGER NOT NULL,
    meter_ref INTEGER NOT NULL REFERENCES meter_ref (ref),
    block_ms INTEGER NOT NULL,
    bytes BLOB NOT NULL,
    UNIQUE (tier, meter_ref, block_ms)
) STRICT;
CREATE INDEX sample_chunk_time ON sample_chunk (meter_ref, first_ms, last_ms);
CREATE INDEX history_of ON history (type, name, property, id);
CREATE INDEX history_age ON history (learned_ms);
CREATE INDEX outbox_order ON outbox (type, stamp_ms, stamp_counter, stamp_host);
COMMIT;
