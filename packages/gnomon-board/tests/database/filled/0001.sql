-- A board as the tables of version 0001 held it, made by the program of that version: a replayed and
-- a hidden season, an attempt left in mid-play, a study with a player, the log of all that was done.
BEGIN TRANSACTION;
CREATE TABLE accounts (
	id INTEGER NOT NULL, 
	name VARCHAR(128) NOT NULL, 
	name_key VARCHAR(128) NOT NULL, 
	created_at DATETIME NOT NULL, 
	disabled_at DATETIME, 
	erased_at DATETIME, 
	CONSTRAINT pk_accounts PRIMARY KEY (id), 
	CONSTRAINT uq_accounts_name_key UNIQUE (name_key)
);
INSERT INTO "accounts" VALUES(1,'admin','admin','2026-11-23 13:32:42.423687',NULL,NULL);
INSERT INTO "accounts" VALUES(2,'edsger','edsger','2026-11-23 13:32:42.448226',NULL,NULL);
INSERT INTO "accounts" VALUES(3,'ada','ada','2026-11-23 13:32:43.273564',NULL,NULL);
INSERT INTO "accounts" VALUES(4,'grace','grace','2026-11-23 13:32:43.277448',NULL,NULL);
INSERT INTO "accounts" VALUES(5,'mallory','mallory','2026-11-23 13:32:43.309764',NULL,NULL);
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0001');
CREATE TABLE attempts (
	id INTEGER NOT NULL, 
	entry_id INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	seed BIGINT NOT NULL, 
	created_at DATETIME NOT NULL, 
	begun_at DATETIME, 
	begun_from VARCHAR(64), 
	closed_at DATETIME, 
	CONSTRAINT pk_attempts PRIMARY KEY (id), 
	CONSTRAINT fk_attempts_entry_id FOREIGN KEY(entry_id) REFERENCES entries (id), 
	CONSTRAINT uq_attempts_entry_id_number UNIQUE (entry_id, number)
);
INSERT INTO "attempts" VALUES(1,1,1,1001,'2026-03-02 09:00:00.000000',NULL,NULL,NULL);
INSERT INTO "attempts" VALUES(2,2,1,2001,'2026-03-02 09:00:00.000000',NULL,NULL,NULL);
INSERT INTO "attempts" VALUES(3,3,1,3001,'2026-03-02 09:00:00.000000',NULL,NULL,NULL);
INSERT INTO "attempts" VALUES(4,4,1,4001,'2026-03-02 09:00:00.000000',NULL,NULL,NULL);
INSERT INTO "attempts" VALUES(5,5,1,5001,'2026-03-02 09:00:00.000000',NULL,NULL,NULL);
INSERT INTO "attempts" VALUES(6,6,1,6001,'2026-03-02 09:00:00.000000',NULL,NULL,NULL);
INSERT INTO "attempts" VALUES(7,7,1,6144718092290251724,'2026-11-23 13:32:43.496639','2026-11-23 13:32:43.562255',NULL,NULL);
INSERT INTO "attempts" VALUES(8,8,1,5415915909093939725,'2026-11-23 13:32:46.676442','2026-11-23 13:32:46.685674',NULL,NULL);
CREATE TABLE audit_log (
	id INTEGER NOT NULL, 
	at DATETIME NOT NULL, 
	account_id INTEGER, 
	action VARCHAR(128) NOT NULL, 
	subject VARCHAR(128) NOT NULL, 
	subject_id INTEGER, 
	detail JSON NOT NULL, 
	public BOOLEAN NOT NULL, 
	CONSTRAINT pk_audit_log PRIMARY KEY (id), 
	CONSTRAINT fk_audit_log_account_id FOREIGN KEY(account_id) REFERENCES accounts (id)
);
INSERT INTO "audit_log" VALUES(1,'2026-11-23 13:32:42.429110',NULL,'account made','account',1,'{}',0);
INSERT INTO "audit_log" VALUES(2,'2026-11-23 13:32:43.239126',NULL,'submission verified','submission',1,'{}',1);
INSERT INTO "audit_log" VALUES(3,'2026-11-23 13:32:43.272188',NULL,'submission verified','submission',2,'{}',1);
INSERT INTO "audit_log" VALUES(4,'2026-11-23 13:32:43.279175',NULL,'entry withdrawn','entry',6,'{}',1);
INSERT INTO "audit_log" VALUES(5,'2026-11-23 13:32:43.497213',5,'entry registered','entry',7,'{"season": "s1"}',1);
INSERT INTO "audit_log" VALUES(6,'2026-11-23 13:32:43.563137',5,'play begun','entry',7,'{"number": 1}',1);
INSERT INTO "audit_log" VALUES(7,'2026-11-23 13:32:46.676881',5,'entry registered','entry',8,'{"season": "s1"}',1);
INSERT INTO "audit_log" VALUES(8,'2026-11-23 13:32:46.686268',5,'play begun','entry',8,'{"number": 1}',1);
INSERT INTO "audit_log" VALUES(9,'2026-11-23 13:32:47.593478',1,'study made','study',1,'{"name": "pilot"}',0);
CREATE TABLE browser_sessions (
	id INTEGER NOT NULL, 
	token_id INTEGER NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	created_at DATETIME NOT NULL, 
	expires_at DATETIME NOT NULL, 
	ended_at DATETIME, 
	CONSTRAINT pk_browser_sessions PRIMARY KEY (id), 
	CONSTRAINT fk_browser_sessions_token_id FOREIGN KEY(token_id) REFERENCES tokens (id), 
	CONSTRAINT uq_browser_sessions_digest UNIQUE (digest)
);
CREATE TABLE entries (
	id INTEGER NOT NULL, 
	season_id INTEGER NOT NULL, 
	account_id INTEGER NOT NULL, 
	name VARCHAR(128) NOT NULL, 
	name_key VARCHAR(128) NOT NULL, 
	description TEXT NOT NULL, 
	link TEXT NOT NULL, 
	created_at DATETIME NOT NULL, 
	withdrawn_at DATETIME, 
	withdrawn_reason TEXT NOT NULL, 
	CONSTRAINT pk_entries PRIMARY KEY (id), 
	CONSTRAINT fk_entries_account_id FOREIGN KEY(account_id) REFERENCES accounts (id), 
	CONSTRAINT fk_entries_season_id FOREIGN KEY(season_id) REFERENCES seasons (id), 
	CONSTRAINT uq_entries_season_id_name_key UNIQUE (season_id, name_key)
);
INSERT INTO "entries" VALUES(1,1,2,'Never twice','never twice','Never twice, as it comes with Gnomon.','https://example.org/learner','2026-03-02 09:00:00.000000',NULL,'');
INSERT INTO "entries" VALUES(2,1,2,'Pure chance','pure chance','Pure chance, as it comes with Gnomon.','https://example.org/learner','2026-03-02 09:00:00.000000',NULL,'');
INSERT INTO "entries" VALUES(3,1,3,'Too good','too good','Too good, as it comes with Gnomon.','https://example.org/learner','2026-03-02 09:00:00.000000',NULL,'');
INSERT INTO "entries" VALUES(4,1,3,'Half done','half done','Half done, as it comes with Gnomon.','https://example.org/learner','2026-03-02 09:00:00.000000',NULL,'');
INSERT INTO "entries" VALUES(5,1,3,'Out of memory','out of memory','Out of memory, as it comes with Gnomon.','https://example.org/learner','2026-03-02 09:00:00.000000',NULL,'');
INSERT INTO "entries" VALUES(6,1,4,'Second thoughts','second thoughts','Second thoughts, as it comes with Gnomon.','https://example.org/learner','2026-03-02 09:00:00.000000','2026-03-02 09:00:00.000000','the learner had a mistake in it');
INSERT INTO "entries" VALUES(7,2,5,'finished','finished','','','2026-11-23 13:32:43.494298',NULL,'');
INSERT INTO "entries" VALUES(8,2,5,'left','left','','','2026-11-23 13:32:46.675609',NULL,'');
CREATE TABLE jobs (
	id INTEGER NOT NULL, 
	kind VARCHAR(16) NOT NULL, 
	submission_id INTEGER NOT NULL, 
	state VARCHAR(8) NOT NULL, 
	reason TEXT NOT NULL, 
	n_attempts INTEGER NOT NULL, 
	lease_owner VARCHAR(128), 
	lease_until DATETIME, 
	heartbeat_at DATETIME, 
	created_at DATETIME NOT NULL, 
	started_at DATETIME, 
	finished_at DATETIME, 
	CONSTRAINT pk_jobs PRIMARY KEY (id), 
	CONSTRAINT fk_jobs_submission_id FOREIGN KEY(submission_id) REFERENCES submissions (id)
);
CREATE TABLE play_attempts (
	id INTEGER NOT NULL, 
	session_id INTEGER NOT NULL, 
	episode INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	cell INTEGER, 
	bucket INTEGER, 
	outcome INTEGER NOT NULL, 
	finish INTEGER NOT NULL, 
	board BLOB, 
	at DATETIME NOT NULL, 
	reaction_ms INTEGER, 
	client_touch_ms INTEGER, 
	client_action_ms INTEGER, 
	client_away_ms INTEGER, 
	client_animation_ms INTEGER, 
	mover INTEGER NOT NULL, 
	CONSTRAINT pk_play_attempts PRIMARY KEY (id), 
	CONSTRAINT fk_play_attempts_session_id FOREIGN KEY(session_id) REFERENCES play_sessions (id), 
	CONSTRAINT uq_play_attempts_session_id_episode_number UNIQUE (session_id, episode, number)
);
INSERT INTO "play_attempts" VALUES(1,1,0,1,6,0,0,0,X'000000000001000B00000000000D000000000008000005000B080000000002000D000000','2026-11-23 13:32:47.690694',29,NULL,NULL,NULL,NULL,0);
INSERT INTO "play_attempts" VALUES(2,1,0,2,8,1,0,0,NULL,'2026-11-23 13:32:47.699774',9,NULL,NULL,NULL,NULL,0);
INSERT INTO "play_attempts" VALUES(3,1,0,3,14,2,0,0,NULL,'2026-11-23 13:32:47.707546',8,NULL,NULL,NULL,NULL,0);
INSERT INTO "play_attempts" VALUES(4,1,0,4,20,3,0,0,NULL,'2026-11-23 13:32:47.714102',7,NULL,NULL,NULL,NULL,0);
INSERT INTO "play_attempts" VALUES(5,1,0,5,23,0,0,0,NULL,'2026-11-23 13:32:47.716720',3,NULL,NULL,NULL,NULL,0);
CREATE TABLE play_sessions (
	id INTEGER NOT NULL, 
	"key" VARCHAR(64) NOT NULL, 
	assignment_id INTEGER, 
	partner_id INTEGER, 
	partner_key VARCHAR(64), 
	waiting_at DATETIME, 
	season_rule_id INTEGER, 
	rule VARCHAR(128) NOT NULL, 
	series INTEGER NOT NULL, 
	seed BIGINT NOT NULL, 
	board JSON NOT NULL, 
	settings JSON NOT NULL, 
	state VARCHAR(16) NOT NULL, 
	n_episodes INTEGER NOT NULL, 
	created_at DATETIME NOT NULL, 
	changed_at DATETIME NOT NULL, 
	finished_at DATETIME, 
	CONSTRAINT pk_play_sessions PRIMARY KEY (id), 
	CONSTRAINT fk_play_sessions_assignment_id FOREIGN KEY(assignment_id) REFERENCES study_assignments (id), 
	CONSTRAINT fk_play_sessions_partner_id FOREIGN KEY(partner_id) REFERENCES study_assignments (id), 
	CONSTRAINT fk_play_sessions_season_rule_id FOREIGN KEY(season_rule_id) REFERENCES season_rules (id), 
	CONSTRAINT uq_play_sessions_key UNIQUE ("key"), 
	CONSTRAINT uq_play_sessions_partner_key UNIQUE (partner_key)
);
INSERT INTO "play_sessions" VALUES(1,'33a068245d8c740ea40768fe4ab8369d86f1c02f69e458ad6b0a1598c17e4fb4',1,NULL,NULL,NULL,NULL,'anything-goes',0,114285729845806198,'{"pieces": [9, 9], "shapes": [4, 4], "colors": [4, 4], "shape_palette": ["SQUARE", "STAR", "CIRCLE", "TRIANGLE"], "color_palette": ["RED", "BLACK", "BLUE", "YELLOW"]}','{"shown": "Puzzle 1", "episodes": 1, "horizon": 5, "memory_aid": true, "gave_up": false}','ended',1,'2026-11-23 13:32:47.661885','2026-11-23 13:32:47.716720','2026-11-23 13:32:47.716720');
INSERT INTO "play_sessions" VALUES(2,'a0c5dfc6a4d9db90a9073a4a5d1a4c28e993f359519621232cf92e22a76dc11f',1,NULL,NULL,NULL,NULL,'clockwise',1,3208191377160358265,'{"pieces": [9, 9], "shapes": [4, 4], "colors": [4, 4], "shape_palette": ["SQUARE", "STAR", "CIRCLE", "TRIANGLE"], "color_palette": ["RED", "BLACK", "BLUE", "YELLOW"]}','{"shown": "Puzzle 2", "episodes": 1, "horizon": 5, "memory_aid": true, "gave_up": false}','playing',1,'2026-11-23 13:32:47.734349','2026-11-23 13:32:47.734353',NULL);
CREATE TABLE rate_limits (
	"key" VARCHAR(128) NOT NULL, 
	window INTEGER NOT NULL, 
	count INTEGER NOT NULL, 
	CONSTRAINT pk_rate_limits PRIMARY KEY ("key", window)
);
INSERT INTO "rate_limits" VALUES('write 5',29924012,2);
INSERT INTO "rate_limits" VALUES('play 127.0.0.1',498733,1);
CREATE TABLE remote_trials (
	id INTEGER NOT NULL, 
	attempt_id INTEGER NOT NULL, 
	rule_id INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	state VARCHAR(16) NOT NULL, 
	episode INTEGER NOT NULL, 
	n_attempts INTEGER NOT NULL, 
	n_errors INTEGER NOT NULL, 
	actions BLOB NOT NULL, 
	log_sha256 VARCHAR(64), 
	created_at DATETIME NOT NULL, 
	changed_at DATETIME NOT NULL, 
	finished_at DATETIME, 
	CONSTRAINT pk_remote_trials PRIMARY KEY (id), 
	CONSTRAINT fk_remote_trials_attempt_id FOREIGN KEY(attempt_id) REFERENCES attempts (id), 
	CONSTRAINT fk_remote_trials_rule_id FOREIGN KEY(rule_id) REFERENCES season_rules (id), 
	CONSTRAINT uq_remote_trials_attempt_id_rule_id_number UNIQUE (attempt_id, rule_id, number)
);
INSERT INTO "remote_trials" VALUES(1,7,3,0,'done',3,150,0,X'7A5B49262C050A0219755D8348578B695B4E508627756000387B4F046E6979190C7C034D0B2B453C786D3A473C4C21710B3B44363E3D2D46468C636F012C8D26497C5B7E17495B31528F6A2D091A277E277427604B8A51858A6B481A248A06735D45787516512E455781860C19641D2F54198F6120345D2F5987341C294950035C175A7F1B71045060207050841D31878D0D1400862E','fc4563fb5a7da8f1eb0247010226317881bb03062cd14b671c31ce0df4743344','2026-11-23 13:32:43.562255','2026-11-23 13:32:46.628177','2026-11-23 13:32:46.628177');
INSERT INTO "remote_trials" VALUES(2,7,4,0,'done',3,150,0,X'3A04001101604B5D25586E37428F738D3662885D796365387E135367794B362C3C4567800A864C3321452F21807314848B265A7B8F2351140F600666761861388083535066536B1B704B6C4B2C0C4B8D055240004E6F6A8C4C548A73632E577266203B343C0113663A678A5D6A582B0A5823115257385A8E6D850915335464648213182D18673B8128312B220D4C8E20266F1B181F53','4f7ef79c267bf6d050e0a79aff955078bb6c9b95ada6aaa97787548a85a1cc1d','2026-11-23 13:32:43.562263','2026-11-23 13:32:46.628177','2026-11-23 13:32:46.628177');
INSERT INTO "remote_trials" VALUES(3,7,3,1,'done',3,150,0,X'6052242E675548306D382F8026206659060C367739712D22727E0B08603052157B40807265216E075D31203D7D8B14506D258B2E721B3460531C5E5384567F8A0C0A48474F6B2D19613785096668270C2D388D7D21445683136E3B48486C49831B44237C79762A547E448124200A5A0219533F1B498C8D0F6C4143387821546B3B5C11682B0B2A325C4A773D7164191C358B04602A4C','b37355f179d855409faaea7b41012330dd63fbb3b83113f4a5d03c6e4f9d87ac','2026-11-23 13:32:43.562264','2026-11-23 13:32:46.628177','2026-11-23 13:32:46.628177');
INSERT INTO "remote_trials" VALUES(4,7,4,1,'done',3,150,0,X'523A8F1C880D5953812B8160801C6D8706345B0F495A6E853B3F44891C47073D8859328F568802420B4F2155037A8814753A85832712550A120A1E7D605B8D4705172561332D106603426B496271200D0853261C697489464B8E54815B53460511665C517F052E1B378813173A7A017670380643647616624F78666D7B63388350760E194E6B880C7B3D8839858007066A1C1B5B0871','efa71b01bdb03ff73760f1e5860021fe411ce7cc4b7dd566b3541c9bdbeb8191','2026-11-23 13:32:43.562265','2026-11-23 13:32:46.628177','2026-11-23 13:32:46.628177');
INSERT INTO "remote_trials" VALUES(5,8,3,0,'playing',0,5,0,X'0102030405',NULL,'2026-11-23 13:32:46.685674','2026-11-23 13:32:46.692165',NULL);
INSERT INTO "remote_trials" VALUES(6,8,4,0,'playing',0,0,0,X'',NULL,'2026-11-23 13:32:46.685679','2026-11-23 13:32:46.685679',NULL);
INSERT INTO "remote_trials" VALUES(7,8,3,1,'playing',0,0,0,X'',NULL,'2026-11-23 13:32:46.685680','2026-11-23 13:32:46.685680',NULL);
INSERT INTO "remote_trials" VALUES(8,8,4,1,'playing',0,0,0,X'',NULL,'2026-11-23 13:32:46.685681','2026-11-23 13:32:46.685681',NULL);
CREATE TABLE season_rules (
	id INTEGER NOT NULL, 
	season_id INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	name VARCHAR(128) NOT NULL, 
	text TEXT NOT NULL, 
	family VARCHAR(128) NOT NULL, 
	tags JSON NOT NULL, 
	visibility VARCHAR(8) NOT NULL, 
	CONSTRAINT pk_season_rules PRIMARY KEY (id), 
	CONSTRAINT fk_season_rules_season_id FOREIGN KEY(season_id) REFERENCES seasons (id), 
	CONSTRAINT uq_season_rules_season_id_name UNIQUE (season_id, name)
);
INSERT INTO "season_rules" VALUES(1,1,0,'clockwise','# title: Clockwise
# sentence: The first piece goes anywhere, and each further one to the bucket that follows the last one, clockwise.
# family: sequence
# tags: paper, memory, one-bucket, metered, several-lines, cycle-4, free-start
(1, *, *, *, [0,1,2,3])
(*, *, *, *, p+1)
','sequence','["paper", "memory", "one-bucket", "metered", "several-lines", "cycle-4", "free-start"]','public');
INSERT INTO "season_rules" VALUES(2,1,1,'color-match','# title: A bucket for each shape
# sentence: Stars go to bucket 0, triangles to 1, squares to 2, circles to 3; the paper calls this rule by colour, but maps shapes.
# family: feature
# tags: paper, shape, one-bucket
(*, star, *, *, 0) (*, triangle, *, *, 1) (*, square, *, *, 2) (*, circle, *, *, 3)
','feature','["paper", "shape", "one-bucket"]','public');
INSERT INTO "season_rules" VALUES(3,2,0,'clockwise','# title: Clockwise
# sentence: The first piece goes anywhere, and each further one to the bucket that follows the last one, clockwise.
# family: sequence
# tags: paper, memory, one-bucket, metered, several-lines, cycle-4, free-start
(1, *, *, *, [0,1,2,3])
(*, *, *, *, p+1)
','','[]','public');
INSERT INTO "season_rules" VALUES(4,2,1,'s1-h01','(shape:star, bucket:0) (shape:[square,circle], bucket:[1,3]) (shape:triangle, bucket:2)','feature','["shape"]','hidden');
CREATE TABLE seasons (
	id INTEGER NOT NULL, 
	name VARCHAR(128) NOT NULL, 
	title TEXT NOT NULL, 
	description TEXT NOT NULL, 
	division VARCHAR(16) NOT NULL, 
	board JSON NOT NULL, 
	trials INTEGER NOT NULL, 
	episodes INTEGER NOT NULL, 
	horizon INTEGER NOT NULL, 
	max_attempts INTEGER, 
	opens_at DATETIME, 
	closes_at DATETIME, 
	commitment VARCHAR(64), 
	salt TEXT, 
	revealed_at DATETIME, 
	version INTEGER NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_seasons PRIMARY KEY (id), 
	CONSTRAINT uq_seasons_name UNIQUE (name)
);
INSERT INTO "seasons" VALUES(1,'spring','Spring','Nine pieces, four shapes, four colours; the fewest errors win.','replayed','{"pieces": [9, 9], "shapes": [4, 4], "colors": [4, 4]}',2,3,100,NULL,NULL,NULL,NULL,NULL,NULL,2,'2026-03-02 09:00:00.000000');
INSERT INTO "seasons" VALUES(2,'s1','S1','','hidden','{"pieces": [9, 9], "shapes": [4, 4], "colors": [4, 4]}',2,3,50,NULL,NULL,NULL,'cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc','5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a',NULL,3,'2026-11-23 13:32:43.281690');
CREATE TABLE server_secrets (
	name VARCHAR(128) NOT NULL, 
	value BLOB NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_server_secrets PRIMARY KEY (name)
);
INSERT INTO "server_secrets" VALUES('seeds',X'21866CFB65D297E8B8E37CE578B15228A6465E52D1D3A65B76824DD2A2027319','2026-11-23 13:32:43.495694');
CREATE TABLE server_switches (
	name VARCHAR(128) NOT NULL, 
	value VARCHAR(128) NOT NULL, 
	CONSTRAINT pk_server_switches PRIMARY KEY (name)
);
CREATE TABLE studies (
	id INTEGER NOT NULL, 
	account_id INTEGER NOT NULL, 
	name VARCHAR(128) NOT NULL, 
	title TEXT NOT NULL, 
	consent TEXT NOT NULL, 
	"plan" JSON NOT NULL, 
	invitation VARCHAR(64) NOT NULL, 
	created_at DATETIME NOT NULL, 
	closes_at DATETIME, 
	CONSTRAINT pk_studies PRIMARY KEY (id), 
	CONSTRAINT fk_studies_account_id FOREIGN KEY(account_id) REFERENCES accounts (id), 
	CONSTRAINT uq_studies_invitation UNIQUE (invitation), 
	CONSTRAINT uq_studies_name UNIQUE (name)
);
INSERT INTO "studies" VALUES(1,1,'pilot','A pilot <b>study</b>','You may stop. <script>alert(1)</script>','{"name": "pilot", "title": "A pilot <b>study</b>", "consent": "You may stop. <script>alert(1)</script>", "lists": {"a": ["anything-goes", "clockwise"], "b": ["clockwise", "anything-goes"]}, "episodes": 1, "horizon": 5, "memory_aid": true, "show_curves": false, "board": {"pieces": 9, "shapes": 4, "colors": 4}}','e61636b7611aa62d387d5bb44d013ab7c5bbd6aa77443ad1370ffe4cfef0dce4','2026-11-23 13:32:47.590656',NULL);
CREATE TABLE study_answers (
	id INTEGER NOT NULL, 
	assignment_id INTEGER NOT NULL, 
	page VARCHAR(16) NOT NULL, 
	name VARCHAR(128) NOT NULL, 
	text TEXT NOT NULL, 
	series INTEGER, 
	episode INTEGER, 
	confidence INTEGER, 
	attempt INTEGER, 
	at DATETIME NOT NULL, 
	CONSTRAINT pk_study_answers PRIMARY KEY (id), 
	CONSTRAINT fk_study_answers_assignment_id FOREIGN KEY(assignment_id) REFERENCES study_assignments (id)
);
CREATE TABLE study_assignments (
	id INTEGER NOT NULL, 
	study_id INTEGER NOT NULL, 
	"key" VARCHAR(64) NOT NULL, 
	player VARCHAR(128) NOT NULL, 
	rule_list VARCHAR(128) NOT NULL, 
	n_played INTEGER NOT NULL, 
	consented_at DATETIME, 
	created_at DATETIME NOT NULL, 
	finished_at DATETIME, 
	identity VARCHAR(64), 
	identifiers JSON NOT NULL, 
	step INTEGER NOT NULL, 
	ending VARCHAR(16) NOT NULL, 
	completion_code VARCHAR(128) NOT NULL, 
	excluded_at DATETIME, 
	end_key VARCHAR(64), 
	partner_id INTEGER, 
	pairing VARCHAR(16) NOT NULL, 
	CONSTRAINT pk_study_assignments PRIMARY KEY (id), 
	CONSTRAINT fk_study_assignments_partner_id FOREIGN KEY(partner_id) REFERENCES study_assignments (id), 
	CONSTRAINT fk_study_assignments_study_id FOREIGN KEY(study_id) REFERENCES studies (id), 
	CONSTRAINT uq_study_assignments_end_key UNIQUE (end_key), 
	CONSTRAINT uq_study_assignments_key UNIQUE ("key"), 
	CONSTRAINT uq_study_assignments_study_id_identity UNIQUE (study_id, identity), 
	CONSTRAINT uq_study_assignments_study_id_player UNIQUE (study_id, player)
);
INSERT INTO "study_assignments" VALUES(1,1,'371e8ec855bde4694c1ef4ac47232ada862527e73edd3ac206ec3ea12a270238','pilot-0001','a',1,'2026-11-23 13:32:47.641256','2026-11-23 13:32:47.642279',NULL,NULL,'{}',0,'','',NULL,NULL,NULL,'');
CREATE TABLE submissions (
	id INTEGER NOT NULL, 
	season_id INTEGER NOT NULL, 
	attempt_id INTEGER NOT NULL, 
	state VARCHAR(16) NOT NULL, 
	reason TEXT NOT NULL, 
	origin VARCHAR(8) NOT NULL, 
	manifest JSON NOT NULL, 
	log_sha256 VARCHAR(64), 
	log_format VARCHAR(16) NOT NULL, 
	log_bytes BIGINT NOT NULL, 
	n_attempts INTEGER, 
	warnings JSON NOT NULL, 
	created_at DATETIME NOT NULL, 
	changed_at DATETIME NOT NULL, 
	verified_at DATETIME, 
	withdrawn_at DATETIME, 
	CONSTRAINT pk_submissions PRIMARY KEY (id), 
	CONSTRAINT fk_submissions_attempt_id FOREIGN KEY(attempt_id) REFERENCES attempts (id), 
	CONSTRAINT fk_submissions_season_id FOREIGN KEY(season_id) REFERENCES seasons (id), 
	CONSTRAINT uq_submissions_attempt_id UNIQUE (attempt_id), 
	CONSTRAINT uq_submissions_season_id_log_sha256 UNIQUE (season_id, log_sha256)
);
INSERT INTO "submissions" VALUES(1,1,1,'verified','all 4 trials were replayed','upload','{"learner": "Never twice"}','23a7a2c839c4879729b4a6f81675b3ea6853edba1ce35eff826f912f2a155cbf','parquet',1000,378,'[]','2026-03-02 09:00:00.000000','2026-03-02 09:00:00.000000','2026-03-02 09:00:00.000000',NULL);
INSERT INTO "submissions" VALUES(2,1,2,'verified','all 4 trials were replayed','upload','{"learner": "Pure chance"}','1a299df3cb06a18036be4000dc19ff4c1324e0a95f1ad6c6fcab0dec66f2a104','parquet',1000,415,'[]','2026-03-02 09:00:00.000000','2026-03-02 09:00:00.000000','2026-03-02 09:00:00.000000',NULL);
INSERT INTO "submissions" VALUES(3,1,3,'refused','rule clockwise, trial 3, episode 12, attempt 4: denied, not accepted','upload','{"learner": "Too good"}','65b90a9d72fd3eac68d462e6c3c9e20f56b49d04abad6ee9bb96b2e30248fa71','parquet',1000,NULL,'[]','2026-03-02 09:00:00.000000','2026-03-02 09:00:00.000000',NULL,NULL);
INSERT INTO "submissions" VALUES(4,1,4,'queued','','upload','{"learner": "Half done"}','8b6abcf71796f8a31c0f24b47b3bc1f697356dcf82b007de6561c5d5812383d9','parquet',1000,NULL,'[]','2026-03-02 09:00:00.000000','2026-03-02 09:00:00.000000',NULL,NULL);
INSERT INTO "submissions" VALUES(5,1,5,'error','verifying was given up: it took more than 4096 MB','upload','{"learner": "Out of memory"}','08992a9e95d289223d022877903b132d1f752af71f788b2a03805674dfea4467','parquet',1000,NULL,'[]','2026-03-02 09:00:00.000000','2026-03-02 09:00:00.000000',NULL,NULL);
INSERT INTO "submissions" VALUES(6,1,6,'withdrawn','the learner had a mistake in it','upload','{"learner": "Second thoughts"}','dafeceb0dcfec6da10f0dc244f80ce246fbf5fc2a8fc4cd16300f8021285e6c6','parquet',1000,NULL,'[]','2026-03-02 09:00:00.000000','2026-03-02 09:00:00.000000',NULL,NULL);
CREATE TABLE token_requests (
	id INTEGER NOT NULL, 
	name VARCHAR(128) NOT NULL, 
	contact TEXT NOT NULL, 
	reason TEXT NOT NULL, 
	claim VARCHAR(64) NOT NULL, 
	state VARCHAR(8) NOT NULL, 
	account_id INTEGER, 
	created_at DATETIME NOT NULL, 
	decided_at DATETIME, 
	CONSTRAINT pk_token_requests PRIMARY KEY (id), 
	CONSTRAINT fk_token_requests_account_id FOREIGN KEY(account_id) REFERENCES accounts (id), 
	CONSTRAINT uq_token_requests_claim UNIQUE (claim)
);
CREATE TABLE tokens (
	id INTEGER NOT NULL, 
	account_id INTEGER NOT NULL, 
	"key" VARCHAR(16) NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	label VARCHAR(128) NOT NULL, 
	scopes JSON NOT NULL, 
	created_at DATETIME NOT NULL, 
	expires_at DATETIME, 
	revoked_at DATETIME, 
	last_used_at DATETIME, 
	CONSTRAINT pk_tokens PRIMARY KEY (id), 
	CONSTRAINT fk_tokens_account_id FOREIGN KEY(account_id) REFERENCES accounts (id), 
	CONSTRAINT uq_tokens_key UNIQUE ("key")
);
INSERT INTO "tokens" VALUES(1,1,'f1b817cb5bd27008','f9caa72eb3c1a808470207fea5ba993753c153d16811c6a9c43605e5aff1f312','first','["admin"]','2026-11-23 13:32:42.430447',NULL,NULL,NULL);
INSERT INTO "tokens" VALUES(2,5,'293548744c89a5c8','105839e132b118556b90723c470603d7ef7620f230a56f3d36d0489f83a22f1e','','["submit"]','2026-11-23 13:32:43.309937',NULL,NULL,NULL);
CREATE TABLE trials (
	id INTEGER NOT NULL, 
	submission_id INTEGER NOT NULL, 
	rule_id INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	tce DOUBLE NOT NULL, 
	errors_to_learn DOUBLE, 
	n_episodes INTEGER NOT NULL, 
	n_attempts INTEGER NOT NULL, 
	n_moves INTEGER NOT NULL, 
	n_cleared INTEGER NOT NULL, 
	curve JSON NOT NULL, 
	log_sha256 VARCHAR(64) NOT NULL, 
	CONSTRAINT pk_trials PRIMARY KEY (id), 
	CONSTRAINT fk_trials_rule_id FOREIGN KEY(rule_id) REFERENCES season_rules (id), 
	CONSTRAINT fk_trials_submission_id FOREIGN KEY(submission_id) REFERENCES submissions (id), 
	CONSTRAINT uq_trials_submission_id_rule_id_number UNIQUE (submission_id, rule_id, number)
);
INSERT INTO "trials" VALUES(1,1,1,0,78.0,NULL,3,105,27,3,'[22, 44, 78]','39295ff5b44f21271433d8abe168715bea112fabeb719ddc16caa1d09c7b2cfa');
INSERT INTO "trials" VALUES(2,1,2,0,73.0,NULL,3,100,27,3,'[23, 45, 73]','916e58eb0b5ff76addd362040a97e1d158744bc9abf46ca206a8d7572f151f46');
INSERT INTO "trials" VALUES(3,1,1,1,43.0,NULL,3,70,27,3,'[17, 28, 43]','108577864a5c70f71e02413fbf973660e00e2403bbd9c57b611420f196c4f99f');
INSERT INTO "trials" VALUES(4,1,2,1,76.0,NULL,3,103,27,3,'[22, 54, 76]','2e3509bf034b93bd4b7b6b8371b9e373453ac8f29cbe3058377c638fe9c77a36');
INSERT INTO "trials" VALUES(5,2,1,0,60.0,NULL,3,87,27,3,'[20, 44, 60]','6b093ec119f53399613cff465b7bf1ac7b0007482c190961e9c7f151d8b7f1ef');
INSERT INTO "trials" VALUES(6,2,2,0,80.0,NULL,3,107,27,3,'[20, 55, 80]','5973a9e2c080e9b3f69c91394fe7c2999751ff3e97d6ba89b7357349c0f959b2');
INSERT INTO "trials" VALUES(7,2,1,1,55.0,NULL,3,82,27,3,'[19, 31, 55]','e1393149ab3178e2200193fa72880cc5372c75ef1a34bdc9e60e0d025a4f23d2');
INSERT INTO "trials" VALUES(8,2,2,1,112.0,NULL,3,139,27,3,'[35, 64, 112]','91bbcd706d4708114db47f83b142bccbe3cdb3db54760a7bfb46cbbca169388e');
CREATE INDEX ix_audit_log_at ON audit_log (at);
CREATE INDEX ix_entries_account_id ON entries (account_id);
CREATE INDEX ix_entries_season_id ON entries (season_id);
CREATE INDEX ix_season_rules_season_id ON season_rules (season_id);
CREATE INDEX ix_studies_account_id ON studies (account_id);
CREATE INDEX ix_token_requests_state ON token_requests (state);
CREATE INDEX ix_tokens_account_id ON tokens (account_id);
CREATE INDEX ix_attempts_entry_id ON attempts (entry_id);
CREATE INDEX ix_browser_sessions_token_id ON browser_sessions (token_id);
CREATE INDEX ix_study_assignments_partner_id ON study_assignments (partner_id);
CREATE INDEX ix_study_assignments_study_id ON study_assignments (study_id);
CREATE INDEX ix_play_sessions_assignment_id ON play_sessions (assignment_id);
CREATE INDEX ix_play_sessions_partner_id ON play_sessions (partner_id);
CREATE INDEX ix_play_sessions_season_rule_id ON play_sessions (season_rule_id);
CREATE INDEX ix_remote_trials_attempt_id ON remote_trials (attempt_id);
CREATE INDEX ix_study_answers_assignment_id ON study_answers (assignment_id);
CREATE INDEX ix_submissions_season_state ON submissions (season_id, state);
CREATE INDEX ix_jobs_state_lease ON jobs (state, lease_until);
CREATE INDEX ix_jobs_submission_id ON jobs (submission_id);
CREATE INDEX ix_play_attempts_session_id ON play_attempts (session_id);
CREATE INDEX ix_trials_log_sha256 ON trials (log_sha256);
CREATE INDEX ix_trials_rule_id ON trials (rule_id);
CREATE INDEX ix_trials_submission_id ON trials (submission_id);
CREATE TRIGGER audit_log_no_UPDATE BEFORE UPDATE ON audit_log
BEGIN SELECT RAISE(ABORT, 'the audit log only grows'); END;
CREATE TRIGGER audit_log_no_DELETE BEFORE DELETE ON audit_log
BEGIN SELECT RAISE(ABORT, 'the audit log only grows'); END;
COMMIT;
