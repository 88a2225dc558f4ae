/* The file: a log of every state that is current or still in the window of watches, each value written once. A turn is
 * one transaction. A row goes when the change that replaced it leaves the window. */
#include "local/internal.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#define APPLICATION_ID 0x506c746e
#define FORMAT 1

struct disk {
	sqlite3 *sqlite;
	sqlite3_stmt *add, *drop, *add_type, *set_floor;
	int64_t last_type;
};

static const char schema[] =
	"CREATE TABLE types(id INTEGER PRIMARY KEY, grp TEXT NOT NULL, resource TEXT NOT NULL,"
	" floor INTEGER NOT NULL DEFAULT 0);"
	"CREATE TABLE log(version INTEGER PRIMARY KEY, prior INTEGER NOT NULL, type INTEGER NOT NULL,"
	" namespace TEXT NOT NULL, name TEXT NOT NULL, value BLOB);";

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
	*foreign = (tables || id) && (id != APPLICATION_ID || format != FORMAT);
	if (*foreign)
		return SQLITE_OK;
	status = run(disk, "PRAGMA journal_mode=WAL");
	if (status == SQLITE_OK)
		status = run(disk, sync == STORE_SYNC_FULL ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL");
	if (status == SQLITE_OK)
		status = run(disk, "BEGIN EXCLUSIVE");
	if (status == SQLITE_OK && !tables) {
		char *mark =
			sqlite3_mprintf("PRAGMA application_id=%d; PRAGMA user_version=%d;", APPLICATION_ID, FORMAT);
		status = run(disk, schema);
		if (status == SQLITE_OK)
			status = run(disk, mark);
		sqlite3_free(mark);
	}
	return status == SQLITE_OK ? run(disk, "COMMIT") : status;
}

static int prepare_statements(struct disk *disk)
{
	struct {
		sqlite3_stmt **statement;
		const char *sql;
	} all[] = {
		{&disk->add, "INSERT INTO log(version, prior, type, namespace, name, value) VALUES(?,?,?,?,?,?)"},
		{&disk->drop, "DELETE FROM log WHERE version=?"},
		{&disk->add_type, "INSERT INTO types(id, grp, resource) VALUES(?,?,?)"},
		{&disk->set_floor, "UPDATE types SET floor=? WHERE id=?"},
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
		bucket->history.floor = (uint64_t)sqlite3_column_int64(row, 3);
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

static int load_log(struct store *store, struct disk *disk, struct error *error)
{
	sqlite3_stmt *row = NULL;
	int status = sqlite3_prepare_v2(disk->sqlite,
	                                "SELECT version, prior, type, namespace, name, value FROM log ORDER BY version",
	                                -1, &row, NULL);
	int result = 0;
	while (status == SQLITE_OK && result == 0 && (status = sqlite3_step(row)) == SQLITE_ROW) {
		result = load_row(store, row, error);
		status = SQLITE_OK;
	}
	sqlite3_finalize(row);
	if (result == 0 && status != SQLITE_DONE)
		return fail(disk, store->path, status, error);
	return result;
}

struct disk *disk_open(struct store *store, struct error *error)
{
	struct disk *disk = base_calloc(1, sizeof(*disk));
	bool foreign = false;
	int status = sqlite3_open_v2(store->path, &disk->sqlite,
	                             SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
	if (status == SQLITE_OK)
		status = prepare_file(disk, store->options.sync, &foreign);
	if (status == SQLITE_OK && foreign) {
		error_set(error, ERROR_INVALID,
		          "%s is a database, but not one of this version of this program; choose another file",
		          store->path);
		disk_close(disk);
		return NULL;
	}
	if (status == SQLITE_OK)
		status = prepare_statements(disk);
	if (status == SQLITE_OK)
		status = load_types(store, disk);
	if (status != SQLITE_OK) {
		fail(disk, store->path, status, error);
		disk_close(disk);
		return NULL;
	}
	if (load_log(store, disk, error) < 0) {
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
	sqlite3_close(disk->sqlite);
	free(disk);
}

/* ---- writing ---- */

static int step(sqlite3_stmt *statement)
{
	int status = sqlite3_step(statement);
	sqlite3_reset(statement);
	sqlite3_clear_bindings(statement);
	return status == SQLITE_DONE ? SQLITE_OK : status;
}

static int write_type(struct disk *disk, struct bucket *bucket)
{
	bucket->id = ++disk->last_type;
	sqlite3_bind_int64(disk->add_type, 1, bucket->id);
	sqlite3_bind_text(disk->add_type, 2, bucket->type.group, -1, SQLITE_STATIC);
	sqlite3_bind_text(disk->add_type, 3, bucket->type.resource, -1, SQLITE_STATIC);
	return step(disk->add_type);
}

static int write_row(struct disk *disk, const struct pending *pending)
{
	struct store_object *either = pending->now ? pending->now : pending->old;
	size_t length = 0;
	const char *json = pending->now ? store_object_json(pending->now, NULL, &length) : NULL;
	sqlite3_bind_int64(disk->add, 1, (int64_t)pending->version);
	sqlite3_bind_int64(disk->add, 2, (int64_t)pending->prior);
	sqlite3_bind_int64(disk->add, 3, pending->bucket->id);
	sqlite3_bind_text(disk->add, 4, either->namespace_, -1, SQLITE_STATIC);
	sqlite3_bind_text(disk->add, 5, either->name, -1, SQLITE_STATIC);
	if (json)
		sqlite3_bind_blob64(disk->add, 6, json, length, SQLITE_STATIC);
	return step(disk->add);
}

static int write_all(struct store *store, struct disk *disk)
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
			status = write_row(disk, pending);
	}
	for (size_t i = 0; i < store->old_rows.count && status == SQLITE_OK; i++) {
		sqlite3_bind_int64(disk->drop, 1, (int64_t)store->old_rows.items[i]);
		status = step(disk->drop);
	}
	for (size_t i = 0; i < store->buckets.count && status == SQLITE_OK; i++) {
		struct bucket *bucket = store->buckets.items[i];
		if (!bucket->floor_moved || !bucket->id)
			continue;
		sqlite3_bind_int64(disk->set_floor, 1, (int64_t)bucket->history.floor);
		sqlite3_bind_int64(disk->set_floor, 2, bucket->id);
		status = step(disk->set_floor);
	}
	return status == SQLITE_OK ? run(disk, "COMMIT") : status;
}

int disk_commit(struct store *store, struct error *error)
{
	struct disk *disk = store->disk;
	int status = write_all(store, disk);
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
	for (size_t i = 0; i < store->buckets.count; i++)
		store->buckets.items[i]->floor_moved = false;
	store->old_rows.count = 0;
	return 0;
}
