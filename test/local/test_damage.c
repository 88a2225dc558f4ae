/* A file that was damaged is refused with what is lost, or has exactly what was written. */
#include "fixtures/store_fixture.h"

#include "property/random.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define OBJECTS 60
#define TRIES 150

static char folder[64], path[128], copy[128];

static int setup(void **state)
{
	static struct store_fixture fixture;
	snprintf(folder, sizeof(folder), "damage-test-XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/state.db", folder);
	snprintf(copy, sizeof(copy), "%s/copy.db", folder);
	fixture = (struct store_fixture){.options = {.history = 16, .sync = STORE_SYNC_NORMAL}};
	*state = &fixture;
	return 0;
}

static int teardown(void **state)
{
	fixture_remove(path);
	fixture_remove(copy);
	return rmdir(folder);
}

static char *read_file(const char *base, const char *tail, size_t *length)
{
	char name[160];
	snprintf(name, sizeof(name), "%s%s", base, tail);
	FILE *file = fopen(name, "r");
	struct stat status;
	*length = 0;
	if (!file)
		return NULL;
	assert_int_equal(fstat(fileno(file), &status), 0);
	char *bytes = malloc((size_t)status.st_size + 1);
	*length = fread(bytes, 1, (size_t)status.st_size, file);
	fclose(file);
	return bytes;
}

static void write_file(const char *base, const char *tail, const char *bytes, size_t length)
{
	char name[160];
	snprintf(name, sizeof(name), "%s%s", base, tail);
	FILE *file = bytes ? fopen(name, "w") : NULL;
	if (!bytes) {
		unlink(name);
		return;
	}
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, length, file), length);
	fclose(file);
}

static void write_objects(struct store_fixture *fixture)
{
	char body[256];
	for (int i = 0; i < OBJECTS; i++) {
		snprintf(body, sizeof(body), "{'metadata':{'name':'c%d'},'data':{'v':'%0100d'}}", i, i);
		assert_code(fixture, fixture_create(fixture, "configmaps", "default", body), 201);
	}
	for (int i = 0; i < OBJECTS; i += 7) {
		snprintf(body, sizeof(body), "c%d", i);
		assert_code(fixture, fixture_merge(fixture, "configmaps", "default", body, "{'data':{'v':'new'}}"),
		            200);
	}
}

static const char *all_objects(struct store *store, struct buffer *out)
{
	const struct store_api *api = store_api_find(store, "", "v1", "configmaps");
	struct arena *arena = arena_create();
	struct store_list list = {0};
	struct store_list_request request = {.api = api};
	struct store_error error = {0};
	out->length = 0;
	buffer_puts(out, "");
	assert_int_equal(store_list(store, &request, &list, arena, &error), 0);
	for (size_t i = 0; i < list.count; i++) {
		size_t length;
		buffer_puts(out, store_object_json(list.items[i], NULL, &length));
	}
	store_list_clear(&list);
	arena_destroy(arena);
	return out->text;
}

/* Of the database or (while it is open, as after a kill) of its write-ahead log. */
static void damaged_files(struct store_fixture *fixture, const char *damaged, bool killed)
{
	static const char *const tails[] = {"", "-wal", "-mark"};
	char *bytes[3];
	size_t lengths[3], refused = 0;
	struct buffer before = {0}, after = {0};
	fixture_open(fixture, path);
	write_objects(fixture);
	all_objects(fixture->store, &before);
	if (!killed)
		fixture_close(fixture);
	for (int i = 0; i < 3; i++)
		bytes[i] = read_file(path, tails[i], &lengths[i]);
	if (killed)
		fixture_close(fixture);
	for (unsigned try = 0; try < TRIES; try++) {
		struct random random = {try};
		size_t damaged_length = 0;
		for (int i = 0; i < 3; i++) {
			char *text = bytes[i] ? malloc(lengths[i] + 1) : NULL;
			size_t length = lengths[i];
			if (text)
				memcpy(text, bytes[i], length);
			if (text && strcmp(tails[i], damaged) == 0) {
				size_t at = (size_t)random_range(&random, 0, (int)length - 1);
				switch (random_range(&random, 0, 3)) {
				case 0:
					length = at;
					break;
				case 1:
					memset(text + at, 0, length - at < 512 ? length - at : 512);
					break;
				case 2:
					text[at] = (char)random_range(&random, -128, 127);
					break;
				default:
					text[at] = (char)(text[at] ^ (1 << random_range(&random, 0, 7)));
				}
			}
			write_file(copy, tails[i], text, length);
			if (strcmp(tails[i], damaged) == 0)
				damaged_length = length;
			free(text);
		}
		struct store_options options = {.path = copy, .history = 16};
		struct error error = {0};
		struct store *store = store_open(&options, &error);
		if (!store) {
			refused++;
			assert_true(error.text[0]);
			size_t length;
			char *left = read_file(copy, damaged, &length); /* for whoever wants to save what is in it */
			assert_int_equal(length, damaged_length);
			free(left);
		} else if (strcmp(all_objects(store, &after), before.text) != 0) {
			fail_msg("seed %u: %s is damaged, was opened, and has something else", try, damaged);
		}
		store_close(store);
		fixture_remove(copy);
	}
	assert_in_range(refused, TRIES / 3, TRIES); /* what is in no use may be damaged */
	for (int i = 0; i < 3; i++)
		free(bytes[i]);
	buffer_free(&before);
	buffer_free(&after);
}

static void the_database(void **state)
{
	damaged_files(*state, "", false);
}

static void the_log_of_a_killed_process(void **state)
{
	damaged_files(*state, "-wal", true);
}

static void change_file(const char *sql)
{
	sqlite3 *sqlite = NULL;
	assert_int_equal(sqlite3_open(path, &sqlite), SQLITE_OK);
	assert_int_equal(sqlite3_exec(sqlite, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(sqlite);
}

static void refuses(const char *first, const char *second)
{
	struct store_options options = {.path = path};
	struct error error = {0};
	assert_null(store_open(&options, &error));
	for (int i = 0; i < 2; i++)
		if (!strstr(error.text, i ? second : first))
			fail_msg("'%s' is not in: %s", i ? second : first, error.text);
}

static void what_is_lost_is_named(void **state)
{
	struct store_fixture *fixture = *state;
	fixture_open(fixture, path);
	write_objects(fixture);
	fixture_close(fixture);
	change_file("UPDATE log SET value=replace(value, '0003', '0004') WHERE name='c33'");
	refuses("1 of ", "configmaps default/c33 (version ");
	change_file("UPDATE log SET value=replace(value, '0004', '0003') WHERE name='c33'");
	change_file("UPDATE log SET name='c\x1b' WHERE name='c44'");
	refuses("state.db is damaged: 1 of ", "configmaps default/c? (version ");
	change_file("UPDATE log SET name='c44' WHERE name='c\x1b'");
	change_file("DELETE FROM log WHERE name='c33'");
	refuses("rows were written", "are there");
	change_file("UPDATE types SET floor=floor+1 WHERE resource='configmaps'");
	change_file("UPDATE totals SET rows=rows-1");
	refuses("state.db is damaged: its rows", "choose another folder");
}

/* The end may be missing without a trace in the database: what was acknowledged is noted beside it. */
static void a_missing_end_is_refused(void **state)
{
	struct store_fixture *fixture = *state;
	size_t length;
	fixture_open(fixture, path);
	fixture_create(fixture, "configmaps", "default", "{'metadata':{'name':'a'}}");
	fixture_close(fixture);
	char *older = read_file(path, "", &length);
	fixture_open(fixture, path);
	fixture_create(fixture, "configmaps", "default", "{'metadata':{'name':'b'}}");
	fixture_close(fixture);
	write_file(path, "", older, length);
	refuses("changes up to ", "remove ");
	write_file(path, "-mark", "rubbish", 7);
	refuses("state.db-mark is damaged", "Remove it to start");
	write_file(path, "-mark", NULL, 0); /* whoever takes that for granted may go on */
	fixture_open(fixture, path);
	assert_string_equal(fixture_names(fixture, "configmaps", "default", NULL, NULL), "a");
	fixture_close(fixture);
	free(older);
}

static void files_without_sums_get_them(void **state)
{
	struct store_fixture *fixture = *state;
	struct buffer before = {0}, after = {0};
	fixture_open(fixture, path);
	write_objects(fixture);
	all_objects(fixture->store, &before);
	fixture_close(fixture);
	change_file("ALTER TABLE log DROP COLUMN sum; DROP TABLE totals; PRAGMA user_version=1");
	fixture_open(fixture, path);
	assert_string_equal(all_objects(fixture->store, &after), before.text);
	fixture_create(fixture, "configmaps", "default", "{'metadata':{'name':'more'}}");
	fixture_reopen(fixture);
	fixture_close(fixture);
	change_file("UPDATE log SET prior=prior+1 WHERE name='c33'");
	refuses("1 of ", "configmaps default/c33");
	buffer_free(&before);
	buffer_free(&after);
}

int main(void)
{
#define ON_FILE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		ON_FILE(the_database),
		ON_FILE(the_log_of_a_killed_process),
		ON_FILE(what_is_lost_is_named),
		ON_FILE(a_missing_end_is_refused),
		ON_FILE(files_without_sums_get_them),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
