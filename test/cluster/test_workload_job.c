/* Jobs and CronJobs: how many pods there are, who is replaced, what is counted. */
#include "fixtures/workload_fixture.h"

#define INDEX(n) "batch.kubernetes.io/job-completion-index=" #n

static void make_job(struct workload_fixture *fixture, const char *spec)
{
	struct buffer text = {0};
	buffer_printf(&text, "{'metadata':{'name':'j'},'spec':{%s%s'template':" POD_TEMPLATE "}}", spec,
	              *spec ? "," : "");
	workload_fixture_make(fixture, "jobs.batch", text.text);
	buffer_free(&text);
}

STORY(a_job_runs_once)
{
	make_job(fixture, "");
	assert_string_equal(workload_fixture_stems(fixture, NULL), "j");
	assert_string_equal(workload_fixture_at(fixture, "jobs.batch", "j", "status.active"), "1");
	assert_string_equal(workload_fixture_pod_at(fixture, NULL, "metadata.ownerReferences.0.controller"), "true");
	assert_string_equal(workload_fixture_pod_at(fixture, NULL, "metadata.labels.app"), "a");
	assert_string_equal(workload_fixture_pod_at(fixture, NULL, "metadata.labels.job-name"), "j");
	workload_fixture_run(fixture, NULL);
	assert_string_equal(workload_fixture_at(fixture, "jobs.batch", "j", "status.ready"), "1");
	workload_fixture_end(fixture, NULL, true, 0);
	assert_string_equal(workload_fixture_condition(fixture, "jobs.batch", "j", "Complete"), "True");
	assert_string_equal(workload_fixture_at(fixture, "jobs.batch", "j", "status.succeeded"), "1");
	assert_string_equal(workload_fixture_at(fixture, "jobs.batch", "j", "status.active"), "0");
	/* The pod stays to be looked at, and nothing holds it. */
	assert_int_equal(workload_fixture_count(fixture, NULL), 1);
	assert_string_equal(workload_fixture_pod_at(fixture, NULL, "metadata.finalizers"), "");
}

STORY(an_indexed_job_runs_each_index)
{
	make_job(fixture, "'completionMode':'Indexed','completions':5,'parallelism':3");
	assert_string_equal(workload_fixture_stems(fixture, NULL), "j-0 j-1 j-2");
	assert_string_equal(workload_fixture_pod_at(fixture, INDEX(2), "spec.hostname"), "j-2");
	workload_fixture_run(fixture, NULL);
	workload_fixture_end(fixture, INDEX(1), true, 0);
	assert_string_equal(workload_fixture_stems(fixture, NULL), "j-0 j-1 j-2 j-3");
	assert_string_equal(workload_fixture_at(fixture, "jobs.batch", "j", "status.completedIndexes"), "1");
	/* A failed index runs again. */
	workload_fixture_end(fixture, INDEX(0), false, 1);
	assert_string_equal(workload_fixture_stems(fixture, NULL), "j-0 j-0 j-1 j-2 j-3");
	assert_string_equal(workload_fixture_at(fixture, "jobs.batch", "j", "status.failed"), "1");
	workload_fixture_run(fixture, NULL);
	workload_fixture_end(fixture, NULL, true, 0);
	workload_fixture_run(fixture, NULL);
	workload_fixture_end(fixture, NULL, true, 0);
	assert_string_equal(workload_fixture_at(fixture, "jobs.batch", "j", "status.completedIndexes"), "0-4");
	assert_string_equal(workload_fixture_at(fixture, "jobs.batch", "j", "status.succeeded"), "5");
	assert_string_equal(workload_fixture_at(fixture, "jobs.batch", "j", "status.failed"), "1");
	assert_string_equal(workload_fixture_condition(fixture, "jobs.batch", "j", "Complete"), "True");
}

STORY(the_highest_index_leaves_first)
{
	make_job(fixture, "'completionMode':'Indexed','completions':4,'parallelism':4");
	workload_fixture_run(fixture, NULL);
	workload_fixture_change(fixture, "jobs.batch", "j", "{'spec':{'parallelism':2}}");
	workload_fixture_gone(fixture);
	assert_string_equal(workload_fixture_stems(fixture, NULL), "j-0 j-1");
	workload_fixture_change(fixture, "jobs.batch", "j", "{'spec':{'parallelism':3}}");
	assert_string_equal(workload_fixture_stems(fixture, NULL), "j-0 j-1 j-2");
}

STORY(too_many_failures_end_it)
{
	make_job(fixture, "'parallelism':2,'completions':2,'backoffLimit':1");
	workload_fixture_run(fixture, NULL);
	workload_fixture_end(fixture, NULL, false, 1);
	assert_string_equal(workload_fixture_condition(fixture, "jobs.batch", "j", "Failed"), "True");
	assert_string_equal(workload_fixture_at(fixture, "jobs.batch", "j", "status.failed"), "2");
	assert_int_equal(workload_fixture_count(fixture, NULL), 2);
}

STORY(a_deleted_pod_counts_as_failed_and_is_replaced)
{
	make_job(fixture, "");
	workload_fixture_run(fixture, NULL);
	const char *name = workload_fixture_pods(fixture, NULL);
	workload_fixture_drop(fixture, "pods", name);
	workload_fixture_gone(fixture);
	assert_int_equal(workload_fixture_count(fixture, NULL), 1);
	assert_string_not_equal(workload_fixture_pods(fixture, NULL), name);
	assert_string_equal(workload_fixture_at(fixture, "jobs.batch", "j", "status.failed"), "1");
}

STORY(a_failure_policy_ignores_evictions)
{
	make_job(fixture, "'backoffLimit':0,'podFailurePolicy':{'rules':[{'action':'Ignore','onPodConditions':[{'type':"
	                  "'DisruptionTarget'}]},{'action':'FailJob','onExitCodes':{'operator':'In','values':[42]}}]}");
	workload_fixture_run(fixture, NULL);
	struct store_request evict = {.verb = STORE_CREATE, .subresource = STORE_EVICTION};
	const char *name = workload_fixture_pods(fixture, NULL);
	assert_code(&fixture->base, fixture_do(&fixture->base, evict, "pods", "default", name, "{'metadata':{}}"), 201);
	workload_fixture_settle(fixture);
	workload_fixture_gone(fixture);
	assert_int_equal(workload_fixture_count(fixture, NULL), 1);
	assert_string_equal(workload_fixture_condition(fixture, "jobs.batch", "j", "Failed"), "");
	workload_fixture_run(fixture, NULL);
	workload_fixture_end(fixture, NULL, false, 42);
	assert_string_equal(workload_fixture_condition(fixture, "jobs.batch", "j", "Failed"), "True");
}

STORY(a_suspended_job_has_no_pods)
{
	make_job(fixture, "'parallelism':2,'completions':2,'suspend':true");
	assert_int_equal(workload_fixture_count(fixture, NULL), 0);
	assert_string_equal(workload_fixture_condition(fixture, "jobs.batch", "j", "Suspended"), "True");
	workload_fixture_change(fixture, "jobs.batch", "j", "{'spec':{'suspend':false}}");
	assert_int_equal(workload_fixture_count(fixture, NULL), 2);
	workload_fixture_change(fixture, "jobs.batch", "j", "{'spec':{'suspend':true}}");
	workload_fixture_gone(fixture);
	assert_int_equal(workload_fixture_count(fixture, NULL), 0);
	assert_string_equal(workload_fixture_at(fixture, "jobs.batch", "j", "status.startTime"), "");
}

STORY(time_is_up)
{
	make_job(fixture, "'activeDeadlineSeconds':60,'ttlSecondsAfterFinished':100");
	workload_fixture_run(fixture, NULL);
	assert_string_equal(workload_fixture_condition(fixture, "jobs.batch", "j", "Failed"), "");
	workload_fixture_pass(fixture, 61);
	assert_string_equal(workload_fixture_condition(fixture, "jobs.batch", "j", "Failed"), "True");
	workload_fixture_gone(fixture);
	workload_fixture_pass(fixture, 101);
	assert_code(&fixture->base, fixture_get(&fixture->base, "jobs.batch", "default", "j"), 404);
	assert_int_equal(workload_fixture_count(fixture, NULL), 0);
}

STORY(nothing_holds_the_pods_of_a_deleted_job)
{
	make_job(fixture, "'parallelism':3,'completions':3");
	workload_fixture_run(fixture, NULL);
	/* One is already on its way when its Job goes. */
	const char *first = arena_strndup(fixture->base.arena, workload_fixture_pods(fixture, NULL), strlen("j-xxxxx"));
	workload_fixture_drop(fixture, "pods", first);
	workload_fixture_drop(fixture, "jobs.batch", "j");
	workload_fixture_gone(fixture);
	assert_int_equal(workload_fixture_count(fixture, NULL), 0);
}

STORY(a_huge_number_does_no_harm)
{
	if (fixture->mode != WORKLOAD_FIXTURE_CALM)
		return;
	assert_code(
		&fixture->base,
		fixture_create(&fixture->base, "jobs.batch", "default",
	                       "{'metadata':{'name':'j'},'spec':{'completionMode':'Indexed','completions':2000000000,"
	                       "'parallelism':2000000000,'template':" POD_TEMPLATE "}}"),
		201);
	for (int i = 0; i < 4; i++) {
		struct error error = {0};
		clock_virtual_advance(&fixture->base.clock, 1000000);
		workloads_step(fixture->workloads);
		assert_int_equal(store_commit(fixture->base.store, &error), 0);
	}
	/* The pods come in portions, so that others get their turn. */
	assert_in_range(workload_fixture_count(fixture, NULL), 1, 2000);
}

static void make_cron(struct workload_fixture *fixture, const char *schedule, const char *more)
{
	struct buffer text = {0};
	buffer_printf(
		&text,
		"{'metadata':{'name':'c'},'spec':{'schedule':'%s'%s,'jobTemplate':{'spec':{'template':" POD_TEMPLATE
		"}}}}",
		schedule, more);
	workload_fixture_make(fixture, "cronjobs.batch", text.text);
	buffer_free(&text);
}

static const char *jobs(struct workload_fixture *fixture)
{
	return fixture_names(&fixture->base, "jobs.batch", "default", NULL, NULL);
}

/* The clock starts at midnight of Thursday 2026-01-01, minute 29453760. */
STORY(a_cron_job_runs_at_its_times)
{
	make_cron(fixture, "*/10 * * * *", "");
	assert_string_equal(jobs(fixture), "");
	workload_fixture_pass(fixture, 601);
	assert_string_equal(jobs(fixture), "c-29453770");
	assert_int_equal(workload_fixture_count(fixture, NULL), 1);
	assert_string_equal(workload_fixture_at(fixture, "cronjobs.batch", "c", "status.lastScheduleTime"),
	                    "2026-01-01T00:10:00Z");
	assert_string_equal(workload_fixture_at(fixture, "cronjobs.batch", "c", "status.active.0.name"), "c-29453770");
	/* Of those that were missed the last one is made. */
	workload_fixture_pass(fixture, 3600);
	assert_string_equal(jobs(fixture), "c-29453770 c-29453830");
	workload_fixture_change(fixture, "cronjobs.batch", "c", "{'spec':{'suspend':true}}");
	workload_fixture_pass(fixture, 3600);
	assert_string_equal(jobs(fixture), "c-29453770 c-29453830");
}

STORY(a_cron_job_may_wait_or_replace)
{
	make_cron(fixture, "@hourly", ",'concurrencyPolicy':'Forbid','successfulJobsHistoryLimit':0");
	workload_fixture_pass(fixture, 3601);
	workload_fixture_run(fixture, NULL);
	workload_fixture_pass(fixture, 3600);
	assert_string_equal(jobs(fixture), "c-29453820");
	/* It ends: what was held back starts, and the old one is forgotten. */
	workload_fixture_end(fixture, NULL, true, 0);
	assert_string_equal(jobs(fixture), "c-29453880");
	workload_fixture_change(fixture, "cronjobs.batch", "c", "{'spec':{'concurrencyPolicy':'Replace'}}");
	workload_fixture_pass(fixture, 3600);
	workload_fixture_gone(fixture);
	assert_string_equal(jobs(fixture), "c-29453940");
	assert_int_equal(workload_fixture_count(fixture, NULL), 1);
}

STORY(schedules_are_read_as_cron_does)
{
	static const struct {
		const char *schedule, *first; /* first time after midnight of 2026-01-01; "": none, or not understood */
	} rows[] = {
		{"5 4 * * *", "2026-01-01T04:05:00Z"},
		{"0 0 1 * *", "2026-02-01T00:00:00Z"},
		{"30 6 * * 1-5", "2026-01-01T06:30:00Z"},
		{"30 6 * * mon", "2026-01-05T06:30:00Z"},
		{"0 0 29 2 *", "2028-02-29T00:00:00Z"},
		{"0 12 1,15 * 7", "2026-01-01T12:00:00Z"}, /* the day or the weekday */
		{"1-5/2 0 2 jan *", "2026-01-02T00:05:00Z"},
		{"0 0 30 2 *", ""},
		{"61 * * * *", ""},
		{"* * * *", ""},
		{"* * * * * *", ""},
		{"x", ""},
		{"1-/2 * * * *", ""},
		{"*/0 * * * *", ""},
	};
	if (fixture->mode != WORKLOAD_FIXTURE_CALM)
		return;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct workload_fixture one;
		workload_fixture_open(&one, WORKLOAD_FIXTURE_CALM);
		make_cron(&one, rows[i].schedule, "");
		int64_t until = 0;
		clock_parse_rfc3339(*rows[i].first ? rows[i].first : "2040-01-01T00:00:00Z", &until);
		/* A moment before there is nothing. */
		one.base.clock.now = (until - 61) * INT64_C(1000000000);
		if (*rows[i].first && strncmp(rows[i].schedule, "1-5/2", 5) != 0) {
			workload_fixture_settle(&one);
			assert_string_equal(jobs(&one), "");
		}
		one.base.clock.now = (until + 1) * INT64_C(1000000000);
		workload_fixture_settle(&one);
		assert_string_equal(workload_fixture_at(&one, "cronjobs.batch", "c", "status.lastScheduleTime"),
		                    rows[i].first);
		workload_fixture_close(&one);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_runs_once),
		cmocka_unit_test(an_indexed_job_runs_each_index),
		cmocka_unit_test(the_highest_index_leaves_first),
		cmocka_unit_test(too_many_failures_end_it),
		cmocka_unit_test(a_deleted_pod_counts_as_failed_and_is_replaced),
		cmocka_unit_test(a_failure_policy_ignores_evictions),
		cmocka_unit_test(a_suspended_job_has_no_pods),
		cmocka_unit_test(time_is_up),
		cmocka_unit_test(nothing_holds_the_pods_of_a_deleted_job),
		cmocka_unit_test(a_huge_number_does_no_harm),
		cmocka_unit_test(a_cron_job_runs_at_its_times),
		cmocka_unit_test(a_cron_job_may_wait_or_replace),
		cmocka_unit_test(schedules_are_read_as_cron_does),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
