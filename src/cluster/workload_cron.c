/* Owns CronJobs: a Job <name>-<minutes since 1970> for each time of the schedule, in UTC. */
#include "cluster/workload_internal.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MINUTE 60
#define DAY 86400
#define DAYS_AHEAD 3000 /* February 29th comes at least every eight years */
#define KEY_TIME "batch.kubernetes.io/cronjob-scheduled-timestamp"

enum { FIELD_MINUTE, FIELD_HOUR, FIELD_DAY, FIELD_MONTH, FIELD_WEEKDAY, FIELDS };

struct schedule {
	uint64_t allowed[FIELDS]; /* bits */
	bool any_day, any_weekday;
};

/* ---- the schedule ---- */

static const char *const nicknames[][2] = {
	{"@yearly", "0 0 1 1 *"}, {"@annually", "0 0 1 1 *"}, {"@monthly", "0 0 1 * *"}, {"@weekly", "0 0 * * 0"},
	{"@daily", "0 0 * * *"},  {"@midnight", "0 0 * * *"}, {"@hourly", "0 * * * *"},
};

/* A number or a name such as mon or jan; -1 when it is neither. */
static long read_value(const char **text, int field)
{
	static const char names[2][12][4] = {
		{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"},
		{"sun", "mon", "tue", "wed", "thu", "fri", "sat"},
	};
	char *end = NULL;
	for (int i = 0; field >= FIELD_MONTH && i < 12 && names[field - FIELD_MONTH][i][0]; i++)
		if (strncasecmp(*text, names[field - FIELD_MONTH][i], 3) == 0) {
			*text += 3;
			return field == FIELD_MONTH ? i + 1 : i;
		}
	if (**text < '0' || **text > '9')
		return -1;
	long value = strtol(*text, &end, 10);
	*text = end;
	return value;
}

/* One part of a list: *, 5, 1-5, each with a step. */
static bool read_part(const char **text, int field, uint64_t *bits)
{
	static const long lows[FIELDS] = {0, 0, 1, 1, 0}, highs[FIELDS] = {59, 23, 31, 12, 7};
	long low = lows[field], high = highs[field], step = 1;
	if (**text == '*' || **text == '?') {
		++*text;
	} else {
		low = high = read_value(text, field);
		if (**text == '-') {
			++*text;
			high = read_value(text, field);
		} else if (**text == '/') {
			high = highs[field];
		}
	}
	if (**text == '/') {
		++*text;
		step = read_value(text, FIELD_MINUTE);
	}
	if (low < lows[field] || high > highs[field] || low > high || step < 1)
		return false;
	for (long i = low; i <= high; i += step)
		*bits |= UINT64_C(1) << ((unsigned)(field == FIELD_WEEKDAY && i == 7 ? 0 : i) & 63);
	return true;
}

static bool read_schedule(const char *text, struct schedule *schedule)
{
	*schedule = (struct schedule){0};
	for (size_t i = 0; i < sizeof(nicknames) / sizeof(*nicknames); i++)
		if (strcmp(text, nicknames[i][0]) == 0)
			text = nicknames[i][1];
	for (int field = 0; field < FIELDS; field++) {
		text += strspn(text, " \t");
		if (field == FIELD_DAY)
			schedule->any_day = *text == '*' || *text == '?';
		if (field == FIELD_WEEKDAY)
			schedule->any_weekday = *text == '*' || *text == '?';
		while (read_part(&text, field, &schedule->allowed[field]) && *text == ',')
			text++;
		if (schedule->allowed[field] == 0 || (*text && *text != ' ' && *text != '\t'))
			return false;
	}
	return text[strspn(text, " \t")] == '\0';
}

static bool allows(const struct schedule *schedule, int field, int value)
{
	return schedule->allowed[field] >> value & 1;
}

static bool allows_day(const struct schedule *schedule, int64_t day)
{
	struct tm date;
	time_t time = (time_t)(day * DAY);
	gmtime_r(&time, &date);
	bool day_good = allows(schedule, FIELD_DAY, date.tm_mday);
	bool weekday_good = allows(schedule, FIELD_WEEKDAY, date.tm_wday);
	if (!allows(schedule, FIELD_MONTH, date.tm_mon + 1))
		return false;
	/* When both are restricted one of them is enough: that is how cron has always been. */
	return schedule->any_day || schedule->any_weekday ? day_good && weekday_good : day_good || weekday_good;
}

/* The first time behind `from`, or the last one at or before it; -1 when there is none. */
static int64_t find_time(const struct schedule *schedule, int64_t from, bool back)
{
	int64_t first = from / MINUTE * MINUTE, step = back ? -1 : 1;
	for (int64_t i = 0, day = from / DAY; i < DAYS_AHEAD && day >= 0; i++, day += step) {
		if (!allows_day(schedule, day))
			continue;
		for (int minute = back ? 1439 : 0; minute >= 0 && minute < 1440; minute += (int)step) {
			int64_t time = day * DAY + minute * MINUTE;
			if ((back ? time <= first : time > first) && allows(schedule, FIELD_HOUR, minute / 60) &&
			    allows(schedule, FIELD_MINUTE, minute % 60))
				return time;
		}
	}
	return -1;
}

/* ---- Jobs ---- */

static bool is_over(const struct store_object *job)
{
	return workload_condition(job->root, "Complete") || workload_condition(job->root, "Failed");
}

static void start_job(struct workload *workload, const struct store_list *jobs, int64_t time)
{
	const struct val *template_ = val_get(workload->spec, "jobTemplate");
	char text[32];
	clock_print_rfc3339(time, text);
	struct child job = {
		.api_version = KINDS_BATCH "/v1",
		.kind = "Job",
		.name = arena_printf(workload->arena, "%s-%lld", workload->object->name, (long long)(time / MINUTE)),
		.template_ = template_,
		.spec = build_copy(workload->build, val_get(template_, "spec")),
	};
	child_annotation(&job, KEY_TIME, text);
	if (!workload_find(jobs, job.name))
		workload_create(workload, &job);
}

/* Whether the time is to be used; jobs that stand in the way are removed when the policy says so. */
static bool may_start(struct workload *workload, const struct store_list *jobs, int64_t time)
{
	const char *policy = val_str(val_get(workload->spec, "concurrencyPolicy"), "Allow");
	int64_t deadline;
	if (val_bool(val_get(workload->spec, "suspend"), false))
		return false;
	if (val_int(val_get(workload->spec, "startingDeadlineSeconds"), &deadline) == 0 &&
	    workload->now - time > deadline)
		return false;
	for (size_t i = 0; i < jobs->count; i++) {
		if (is_over(jobs->items[i]))
			continue;
		if (strcmp(policy, "Forbid") == 0)
			return false;
		if (strcmp(policy, "Replace") == 0)
			workload_delete(workload, jobs->items[i]);
	}
	return true;
}

/* The oldest of those that ended go; names are in the order of time. */
static void forget_jobs(struct workload *workload, const struct store_list *jobs, const char *end, const char *key,
                        int64_t fallback)
{
	int64_t keep = workload_number(val_get(workload->spec, key), fallback);
	for (size_t i = jobs->count; i-- > 0;)
		if (workload_condition(jobs->items[i]->root, end) && keep-- <= 0)
			workload_delete(workload, jobs->items[i]);
}

static void write_status(struct workload *workload, const struct store_list *jobs, int64_t started)
{
	struct build *build = workload->build;
	struct node *status = build_map(build), *active = build_list(build);
	char text[32];
	for (size_t i = 0; i < jobs->count; i++) {
		if (is_over(jobs->items[i]))
			continue;
		struct node *reference = build_map(build);
		build_put_string(build, reference, "apiVersion", KINDS_BATCH "/v1");
		build_put_string(build, reference, "kind", "Job");
		build_put_string(build, reference, "namespace", jobs->items[i]->namespace_);
		build_put_string(build, reference, "name", jobs->items[i]->name);
		build_put_string(build, reference, "uid", jobs->items[i]->uid);
		build_append(build, active, reference);
	}
	build_put(build, status, "active", active);
	for (size_t i = jobs->count; i-- > 0;)
		if (workload_condition(jobs->items[i]->root, "Complete")) {
			build_put(build, status, "lastSuccessfulTime",
			          build_copy(build, workload_since(jobs->items[i]->root, "Complete")));
			break;
		}
	if (started >= 0) {
		clock_print_rfc3339(started, text);
		build_put_string(build, status, "lastScheduleTime", text);
	}
	workload_write_status(workload, status);
}

int workload_cron_job(struct workload *workload)
{
	struct schedule schedule;
	const char *text = val_str(val_get(workload->spec, "schedule"), "");
	if (!read_schedule(text, &schedule)) {
		writes_event(workload->store, workload->object, true, "UnparseableSchedule",
		             arena_printf(workload->arena,
		                          "\"%.100s\" is no schedule; five fields such as \"*/10 * * * *\"", text),
		             workload->now);
		return 0;
	}
	int64_t last = workload->now;
	if (!workload_time(val_path(workload->root, "status", "lastScheduleTime", NULL), &last))
		workload_time(val_path(workload->root, "metadata", "creationTimestamp", NULL), &last);
	struct store_list jobs;
	workload_others(workload, KINDS_BATCH, "jobs", &jobs);
	/* Of several times that were missed only the last one counts. */
	int64_t due = find_time(&schedule, workload->now, true), next = find_time(&schedule, workload->now, false);
	bool start = due > last && may_start(workload, &jobs, due);
	if (start)
		start_job(workload, &jobs, due);
	forget_jobs(workload, &jobs, "Complete", "successfulJobsHistoryLimit", 3);
	forget_jobs(workload, &jobs, "Failed", "failedJobsHistoryLimit", 1);
	/* A start that failed is not over. */
	write_status(workload, &jobs, start && !workload->failed ? due : -1);
	if (next >= 0)
		workload_again(workload, next - workload->now);
	store_list_clear(&jobs);
	return 0;
}
