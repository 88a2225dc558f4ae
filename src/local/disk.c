/* The file: a log of every state that is current or still in the window of watches, each value written once. A turn is
 * one transaction. A row goes when the change that replaced it leaves the window. Each row has a sum, and the file has one
 * over all of them: what was damaged is refused. */
#include "local/disk_sums.h"
#include "local/internal.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define APPLICATION_ID 0x506c746e
#define FORMAT 2
#define FORMAT_WITHOUT_SUMS 1
#define NAMED_ROWS 3 /* of many damaged ones */

struct disk {
	sqlite3 *sqlite;
	sqlite3_stmt *add, *drop, *add_type, *set_floor, *set_totals;
	int64_t last_type;
	struct disk_mark mark;
	struct disk_totals totals; /* of what is committed */
	bool has_sums;             /* false while a file of an older format is read */
};

/* Rows that are not what was written. */
struct damage {
	size_t rows;
	struct buffer named;
};

#define TOTALS                                                                                                         \
	"CREATE TABLE totals(one INTEGER PRIMARY KEY, version INTEGER NOT NULL, rows INTEGER NOT NULL,"                \
	" log INTEGER NOT NULL, types INTEGER NOT NULL);"                                                              \
	"INSERT INTO totals VALUES(1, 0, 0, 0, 0);"

static const char schema[] =
	"CREATE TABLE types(id INTEGER PRIMARY KEY, grp TEXT NOT NULL, resource TEXT NOT NULL,"
	" floor INTEGER NOT NULL DEFAULT 0);"
	"CREATE TABLE log(version INTEGER PRIMARY KEY, prior INTEGER NOT NULL, type INTEGER NOT NULL,"
	" namespace TEXT NOT NULL, name TEXT NOT NULL, value BLOB, sum INTEGER NOT NULL);" TOTALS;

#define ROWS_OF_LOG "SELECT version, prior, type, namespace, name, value, sum FROM log ORDER BY version"

/* ---- opening ---- */

static int fail(struct disk *disk, const char *path, int status, struct error *error)
{
	if (status == SQLITE_BUSY || status == SQLITE_LOCKED)
		return error_set(error, ERROR_CONFLICT,
		                 "%s is in use by another process; stop that one or choose another file", path);
	if (status == SQLITE_NOTADB)
		return error_set(error, ERROR_INVALID, "%s is not a database of this program; choose another file",
		                 path);
	return error_set(error, ERROR_IO, "%s: %s", path,
	                 disk->sqlite ? sqlite3_errmsg(disk->sqlite) : sqlite3_errstr(status));
}

static int run(struct disk *disk, const char *sql)
{
	return sqlite3_exec(disk->sqlite, sql, NULL, NULL, NULL);
}

static int step(sqlite3_stmt *statement)
{
	int status = sqlite3_step(statement);
	sqlite3_reset(statement);
	sqlite3_clear_bindings(statement);
	return status == SQLITE_DONE ? SQLITE_OK : status;
}

static int ask_number(struct disk *disk, const char *sql, int64_t *number)
{
	sqlite3_stmt *statement = NULL;
	int status = sqlite3_prepare_v2(disk->sqlite, sql, -1, &statement, NULL);
	if (status == SQLITE_OK) {
		status = sqlite3_step(statement);
		*number = status == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
		status = status == SQLITE_ROW || status == SQLITE_DONE ? SQLITE_OK : status;
	}
	sqlite3_finalize(statement);
	return status;
}

static int set_format(struct disk *disk)
{
	char *sql = sqlite3_mprintf("PRAGMA application_id=%d; PRAGMA user_version=%d;", APPLICATION_ID, FORMAT);
	int status = run(disk, sql);
	sqlite3_free(sql);
	return status;
}

/* Locks the file for us alone and brings it to the form this program writes. */
static int prepare_file(struct disk *disk, enum store_sync sync, bool *foreign)
{
	int64_t id = 0, format = 0, tables = 0;
	int status = run(disk, "PRAGMA locking_mode=EXCLUSIVE");
	if (status == SQLITE_OK)
		status = ask_number(disk, "PRAGMA application_id", &id);
	if (status == SQLITE_OK)
		status = ask_number(disk, "PRAGMA user_version", &format);
	if (status == SQLITE_OK)
		status = ask_number(disk, "SELECT count(*) FROM sqlite_master", &tables);
	if (status != SQLITE_OK)
		return status;
	disk->has_sums = format != FORMAT_WITHOUT_SUMS;
	*foreign = (tables || id) && (id != APPLICATION_ID || (format != FORMAT && disk->has_sums));
	if (*foreign)
		return SQLITE_OK;
	status = run(disk, "PRAGMA journal_mode=WAL");
	if (status == SQLITE_OK)
		status = run(disk, sync == STORE_SYNC_FULL ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL");
	if (status == SQLITE_OK)
		status = run(disk, "BEGIN EXCLUSIVE");
	if (status == SQLITE_OK && !tables) {
		status = run(disk, schema);
		if (status == SQLITE_OK)
			status = set_format(disk);
	}
	return status == SQLITE_OK ? run(disk, "COMMIT") : status;
}

static int prepare_statements(struct disk *disk)
{
	struct {
		sqlite3_stmt **statement;
		const char *sql;
	} all[] = {
		{&disk->add,
	         "INSERT INTO log(version, prior, type, namespace, name, value, sum) VALUES(?,?,?,?,?,?,?)"},
		{&disk->drop, "DELETE FROM log WHERE version=? RETURNING sum"},
		{&disk->add_type, "INSERT INTO types(id, grp, resource) VALUES(?,?,?)"},
		{&disk->set_floor, "UPDATE types SET floor=? WHERE id=?"},
		{&disk->set_totals, "UPDATE totals SET version=?, rows=?, log=?, types=?"},
	};
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		int status = sqlite3_prepare_v3(disk->sqlite, all[i].sql, -1, SQLITE_PREPARE_PERSISTENT,
		                                all[i].statement, NULL);
		if (status != SQLITE_OK)
			return status;
	}
	return SQLITE_OK;
}

/* ---- loading ---- */

static const char *column_text(sqlite3_stmt *row, int column)
{
	const char *text = (const char *)sqlite3_column_text(row, column);
	return text ? text : "";
}

static int load_types(struct store *store, struct disk *disk)
{
	sqlite3_stmt *row = NULL;
	int status = sqlite3_prepare_v2(disk->sqlite, "SELECT id, grp, resource, floor FROM types", -1, &row, NULL);
	if (status != SQLITE_OK)
		return status;
	while ((status = sqlite3_step(row)) == SQLITE_ROW) {
		struct bucket *bucket = registry_bucket(store, column_text(row, 1), column_text(row, 2));
		bucket->id = sqlite3_column_int64(row, 0);
		bucket->known_to_disk = true;
		bucket->history.floor = bucket->disk_floor = (uint64_t)sqlite3_column_int64(row, 3);
		if (bucket->id > disk->last_type)
			disk->last_type = bucket->id;
		if (bucket->history.floor > store->version)
			store->version = bucket->history.floor;
	}
	sqlite3_finalize(row);
	return status == SQLITE_DONE ? SQLITE_OK : status;
}

static struct bucket *bucket_by_id(const struct store *store, int64_t id)
{
	for (size_t i = 0; i < store->buckets.count; i++)
		if (store->buckets.items[i]->id == id)
			return store->buckets.items[i];
	return NULL;
}

static int load_row(struct store *store, sqlite3_stmt *row, struct error *error)
{
	uint64_t version = (uint64_t)sqlite3_column_int64(row, 0), prior = (uint64_t)sqlite3_column_int64(row, 1);
	struct bucket *bucket = bucket_by_id(store, sqlite3_column_int64(row, 2));
	const char *namespace_ = column_text(row, 3), *name = column_text(row, 4);
	if (!bucket)
		return error_set(error, ERROR_INVALID, "row %" PRIu64 " of the log is of an unknown type", version);
	if (version > store->version)
		store->version = version;
	struct store_object *old = index_find(&bucket->index, namespace_, name), *now = NULL;
	if (sqlite3_column_type(row, 5) != SQLITE_NULL) {
		struct error cause;
		struct doc *doc =
			doc_parse_json(sqlite3_column_blob(row, 5), (size_t)sqlite3_column_bytes(row, 5), &cause);
		if (!doc)
			return error_set(error, ERROR_INVALID, "row %" PRIu64 " of the log is damaged: %s", version,
			                 cause.text);
		now = object_create(&bucket->type, doc);
	}
	bool whole = prior ? old && old->version == prior : !old;
	bool in_history = version > bucket->history.floor && whole;
	if (!in_history) {
		if (version > bucket->history.floor)
			bucket->history.floor = version;
		if (old)
			vec_push(&store->old_rows, old->version);
		if (!now)
			vec_push(&store->old_rows, version);
	}
	if (old || now)
		change_load(store, bucket, old, now, version, in_history,
		            now ? (size_t)sqlite3_column_bytes(row, 5) : 0);
	store_object_release(now);
	return 0;
}

static uint64_t sum_of(sqlite3_stmt *row)
{
	return disk_sum_row(&(struct disk_row){
		.version = (uint64_t)sqlite3_column_int64(row, 0),
		.prior = (uint64_t)sqlite3_column_int64(row, 1),
		.type = sqlite3_column_int64(row, 2),
		.namespace_ = column_text(row, 3),
		.name = column_text(row, 4),
		.value = sqlite3_column_type(row, 5) == SQLITE_NULL ? NULL : sqlite3_column_blob(row, 5),
		.length = (size_t)sqlite3_column_bytes(row, 5),
	});
}

/* Letters of a name that may be damaged itself. */
static void name_text(struct buffer *out, const char *text)
{
	for (; *text; text++)
		buffer_append(out, (*text >= '-' && *text <= 'z') ? text : "?", 1);
}

static void note_damage(const struct store *store, sqlite3_stmt *row, struct damage *damage)
{
	if (damage->rows++ >= NAMED_ROWS)
		return;
	const struct bucket *bucket = bucket_by_id(store, sqlite3_column_int64(row, 2));
	const char *namespace_ = column_text(row, 3);
	buffer_printf(&damage->named, "%s%s ", damage->rows > 1 ? ", " : "", bucket ? bucket->type.resource : "?");
	name_text(&damage->named, namespace_);
	buffer_puts(&damage->named, *namespace_ ? "/" : "");
	name_text(&damage->named, column_text(row, 4));
	buffer_printf(&damage->named, " (version %lld)", (long long)sqlite3_column_int64(row, 0));
}

/* Over the types as the file has them, or (pending) as this transaction writes them. */
static uint64_t sum_types(const struct store *store, bool pending)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < store->buckets.count; i++) {
		const struct bucket *bucket = store->buckets.items[i];
		if (bucket->known_to_disk || (pending && bucket->adding))
			sum += disk_sum_type(bucket->id, bucket->type.group, bucket->type.resource,
			                     pending && bucket->floor_moved ? bucket->history.floor
			                                                    : bucket->disk_floor);
	}
	return sum;
}

static int write_totals(struct disk *disk, const struct disk_totals *totals)
{
	const uint64_t values[] = {totals->version, totals->rows, totals->log, totals->types};
	for (int i = 0; i < 4; i++)
		sqlite3_bind_int64(disk->set_totals, i + 1, (int64_t)values[i]);
	return step(disk->set_totals);
}

static int read_totals(struct disk *disk, struct disk_totals *totals)
{
	uint64_t *const values[] = {&totals->version, &totals->rows, &totals->log, &totals->types};
	sqlite3_stmt *row = NULL;
	int status = sqlite3_prepare_v2(disk->sqlite, "SELECT version, rows, log, types FROM totals", -1, &row, NULL);
	if (status == SQLITE_OK)
		status = sqlite3_step(row);
	for (int i = 0; i < 4 && status == SQLITE_ROW; i++)
		*values[i] = (uint64_t)sqlite3_column_int64(row, i);
	sqlite3_finalize(row);
	return status == SQLITE_ROW || status == SQLITE_DONE ? SQLITE_OK : status;
}

static int sum_rows(struct disk *disk, struct disk_totals *totals)
{
	sqlite3_stmt *row = NULL, *set = NULL;
	int status = sqlite3_prepare_v2(disk->sqlite, "UPDATE log SET sum=? WHERE version=?", -1, &set, NULL);
	if (status == SQLITE_OK)
		status = sqlite3_prepare_v2(disk->sqlite, ROWS_OF_LOG, -1, &row, NULL);
	while (status == SQLITE_OK && (status = sqlite3_step(row)) == SQLITE_ROW) {
		uint64_t sum = sum_of(row);
		totals->rows++;
		totals->log += sum;
		totals->version = (uint64_t)sqlite3_column_int64(row, 0);
		sqlite3_bind_int64(set, 1, (int64_t)sum);
		sqlite3_bind_int64(set, 2, sqlite3_column_int64(row, 0));
		status = step(set);
	}
	sqlite3_finalize(row);
	sqlite3_finalize(set);
	return status == SQLITE_DONE ? SQLITE_OK : status;
}

/* A file from before there were sums gets them, in one transaction; then its statements can be prepared. */
static int bring_up(const struct store *store, struct disk *disk)
{
	struct disk_totals totals = {.types = sum_types(store, false)};
	int status = run(disk, "BEGIN EXCLUSIVE; ALTER TABLE log ADD COLUMN sum INTEGER NOT NULL DEFAULT 0;" TOTALS);
	if (status == SQLITE_OK)
		status = prepare_statements(disk);
	if (status == SQLITE_OK)
		status = sum_rows(disk, &totals);
	if (status == SQLITE_OK)
		status = write_totals(disk, &totals);
	if (status == SQLITE_OK)
		status = set_format(disk);
	return status == SQLITE_OK ? run(disk, "COMMIT") : status;
}

/* What was read is what was written, all of it, and nothing that was acknowledged is missing. */
static int check_whole(const struct store *store, const struct disk *disk, const struct disk_totals *found,
                       struct damage *damage, struct error *error)
{
	static const char cure[] = "Nothing was changed; put a backup in its place or choose another folder";
	const struct disk_totals *wanted = &disk->totals;
	if (damage->rows)
		return error_set(error, ERROR_INVALID,
		                 "%s is damaged: %zu of %" PRIu64 " rows cannot be trusted: %s%s. %s", store->path,
		                 damage->rows, found->rows, damage->named.text,
		                 damage->rows > NAMED_ROWS ? ", ..." : "", cure);
	if (found->rows != wanted->rows)
		return error_set(error, ERROR_INVALID,
		                 "%s is damaged: %" PRIu64 " rows were written, %" PRIu64 " are there. %s", store->path,
		                 wanted->rows, found->rows, cure);
	if (found->log != wanted->log || found->types != wanted->types)
		return error_set(error, ERROR_INVALID, "%s is damaged: its %s are not those that were written. %s",
		                 store->path, found->log != wanted->log ? "rows" : "types", cure);
	if (wanted->version < disk->mark.version)
		return error_set(
			error, ERROR_INVALID,
			"%s ends at version %" PRIu64 ", but changes up to %" PRIu64
			" were acknowledged: its end is damaged or missing. Nothing was changed; put a backup in "
			"its place, or remove %s-mark to go on without these changes",
			store->path, wanted->version, disk->mark.version, store->path);
	return 0;
}

static int load_log(struct store *store, struct disk *disk, struct error *error)
{
	sqlite3_stmt *row = NULL;
	struct disk_totals found = {.types = sum_types(store, false)};
	struct damage damage = {0};
	int status = sqlite3_prepare_v2(disk->sqlite, ROWS_OF_LOG, -1, &row, NULL), result = 0;
	while (status == SQLITE_OK && result == 0 && (status = sqlite3_step(row)) == SQLITE_ROW) {
		uint64_t sum = sum_of(row);
		found.rows++;
		found.log += sum;
		if (sum != (uint64_t)sqlite3_column_int64(row, 6))
			note_damage(store, row, &damage);
		else
			result = load_row(store, row, error);
		status = SQLITE_OK;
	}
	sqlite3_finalize(row);
	if (result == 0)
		result = status != SQLITE_DONE ? fail(disk, store->path, status, error)
		                               : check_whole(store, disk, &found, &damage, error);
	buffer_free(&damage.named);
	return result;
}

static int load(struct store *store, struct disk *disk, struct error *error)
{
	int status = load_types(store, disk);
	if (status == SQLITE_OK)
		status = disk->has_sums ? prepare_statements(disk) : bring_up(store, disk);
	if (status == SQLITE_OK)
		status = read_totals(disk, &disk->totals);
	if (status != SQLITE_OK)
		return fail(disk, store->path, status, error);
	if (disk_mark_open(&disk->mark, store->path, error) < 0)
		return -1;
	return load_log(store, disk, error);
}

/* Secrets are in it. SQLite gives the files that it keeps beside the database the rights of the database. */
static void create_private(const char *path)
{
	int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (file >= 0)
		close(file);
}

struct disk *disk_open(struct store *store, struct error *error)
{
	struct disk *disk = base_calloc(1, sizeof(*disk));
	bool foreign = false;
	int result = 0;
	disk->mark.file = -1;
	create_private(store->path);
	int status = sqlite3_open_v2(store->path, &disk->sqlite,
	                             SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
	if (status == SQLITE_OK)
		status = prepare_file(disk, store->options.sync, &foreign);
	if (status != SQLITE_OK)
		result = fail(disk, store->path, status, error);
	else if (foreign)
		result = error_set(error, ERROR_INVALID,
		                   "%s is a database, but not one of this version of this program; choose another file",
		                   store->path);
	else
		result = load(store, disk, error);
	if (result < 0) {
		/* What SQLite could not read of its log stays where it is: closing would remove it. */
		if (disk->sqlite)
			sqlite3_db_config(disk->sqlite, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)NULL);
		disk_close(disk);
		return NULL;
	}
	return disk;
}

void disk_close(struct disk *disk)
{
	if (!disk)
		return;
	sqlite3_finalize(disk->add);
	sqlite3_finalize(disk->drop);
	sqlite3_finalize(disk->add_type);
	sqlite3_finalize(disk->set_floor);
	sqlite3_finalize(disk->set_totals);
	disk_mark_close(&disk->mark);
	sqlite3_close(disk->sqlite);
	free(disk);
}

/* ---- writing ---- */

static int write_type(struct disk *disk, struct bucket *bucket)
{
	bucket->id = ++disk->last_type;
	sqlite3_bind_int64(disk->add_type, 1, bucket->id);
	sqlite3_bind_text(disk->add_type, 2, bucket->type.group, -1, SQLITE_STATIC);
	sqlite3_bind_text(disk->add_type, 3, bucket->type.resource, -1, SQLITE_STATIC);
	return step(disk->add_type);
}

static int write_row(struct disk *disk, const struct pending *pending, struct disk_totals *totals)
{
	struct store_object *either = pending->now ? pending->now : pending->old;
	size_t length = 0;
	const char *json = pending->now ? store_object_json(pending->now, NULL, &length) : NULL;
	uint64_t sum = disk_sum_row(&(struct disk_row){
		.version = pending->version,
		.prior = pending->prior,
		.type = pending->bucket->id,
		.namespace_ = either->namespace_,
		.name = either->name,
		.value = json,
		.length = length,
	});
	totals->version = pending->version;
	totals->rows++;
	totals->log += sum;
	sqlite3_bind_int64(disk->add, 1, (int64_t)pending->version);
	sqlite3_bind_int64(disk->add, 2, (int64_t)pending->prior);
	sqlite3_bind_int64(disk->add, 3, pending->bucket->id);
	sqlite3_bind_text(disk->add, 4, either->namespace_, -1, SQLITE_STATIC);
	sqlite3_bind_text(disk->add, 5, either->name, -1, SQLITE_STATIC);
	if (json)
		sqlite3_bind_blob64(disk->add, 6, json, length, SQLITE_STATIC);
	sqlite3_bind_int64(disk->add, 7, (int64_t)sum);
	return step(disk->add);
}

static int drop_row(struct disk *disk, uint64_t version, struct disk_totals *totals)
{
	sqlite3_bind_int64(disk->drop, 1, (int64_t)version);
	int status = sqlite3_step(disk->drop);
	if (status == SQLITE_ROW) {
		totals->rows--;
		totals->log -= (uint64_t)sqlite3_column_int64(disk->drop, 0);
		status = sqlite3_step(disk->drop);
	}
	sqlite3_reset(disk->drop);
	return status == SQLITE_DONE ? SQLITE_OK : status;
}

static int write_all(struct store *store, struct disk *disk, struct disk_totals *totals)
{
	int status = run(disk, "BEGIN IMMEDIATE");
	for (size_t i = 0; i < store->batch.count && status == SQLITE_OK; i++) {
		struct pending *pending = &store->batch.items[i];
		/* A type that a failed transaction added has a number but is not known: add it again. */
		if (!pending->bucket->known_to_disk && !pending->bucket->adding) {
			status = write_type(disk, pending->bucket);
			pending->bucket->adding = true;
		}
		if (status == SQLITE_OK)
			status = write_row(disk, pending, totals);
	}
	for (size_t i = 0; i < store->old_rows.count && status == SQLITE_OK; i++)
		status = drop_row(disk, store->old_rows.items[i], totals);
	for (size_t i = 0; i < store->buckets.count && status == SQLITE_OK; i++) {
		struct bucket *bucket = store->buckets.items[i];
		if (!bucket->floor_moved || !bucket->id)
			continue;
		sqlite3_bind_int64(disk->set_floor, 1, (int64_t)bucket->history.floor);
		sqlite3_bind_int64(disk->set_floor, 2, bucket->id);
		status = step(disk->set_floor);
	}
	totals->types = sum_types(store, true);
	if (status == SQLITE_OK)
		status = write_totals(disk, totals);
	return status == SQLITE_OK ? run(disk, "COMMIT") : status;
}

int disk_commit(struct store *store, struct error *error)
{
	struct disk *disk = store->disk;
	struct disk_totals totals = disk->totals;
	int status = write_all(store, disk, &totals);
	if (status != SQLITE_OK) {
		fail(disk, store->path, status, error);
		run(disk, "ROLLBACK");
	}
	for (size_t i = 0; i < store->batch.count; i++) {
		struct bucket *bucket = store->batch.items[i].bucket;
		bucket->adding = false;
		bucket->known_to_disk |= status == SQLITE_OK;
	}
	if (status != SQLITE_OK)
		return -1;
	for (size_t i = 0; i < store->buckets.count; i++) {
		struct bucket *bucket = store->buckets.items[i];
		if (bucket->floor_moved && bucket->id)
			bucket->disk_floor = bucket->history.floor;
		bucket->floor_moved = false;
	}
	store->old_rows.count = 0;
	disk->totals = totals;
	/* An older mark only sees less of what may be missing: the commit counts also when this one cannot be written. */
	disk_mark_write(&disk->mark, totals.version);
	return 0;
}
