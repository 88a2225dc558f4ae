/* Owns the thread beside the loop. */
#include "loop/beside.h"

#include "base/arena.h"
#include "base/clock.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

struct beside {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_t thread;
	bool has_thread, ending;
	void (*work)(void *context); /* NULL when it is done */
	void *context;
};

struct beside *beside_create(void)
{
	struct beside *beside = base_calloc(1, sizeof(*beside));
	pthread_condattr_t attributes;
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_mutex_init(&beside->lock, NULL);
	pthread_cond_init(&beside->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	return beside;
}

static void *serve(void *context)
{
	struct beside *beside = context;
	pthread_mutex_lock(&beside->lock);
	for (;;) {
		while (!beside->work && !beside->ending)
			pthread_cond_wait(&beside->changed, &beside->lock);
		if (!beside->work)
			break;
		pthread_mutex_unlock(&beside->lock);
		beside->work(beside->context);
		pthread_mutex_lock(&beside->lock);
		beside->work = NULL;
		pthread_cond_broadcast(&beside->changed);
	}
	pthread_mutex_unlock(&beside->lock);
	return NULL;
}

void beside_destroy(struct beside *beside)
{
	if (!beside)
		return;
	if (beside->has_thread) {
		pthread_mutex_lock(&beside->lock);
		beside->ending = true;
		pthread_cond_broadcast(&beside->changed);
		pthread_mutex_unlock(&beside->lock);
		pthread_join(beside->thread, NULL);
	}
	pthread_cond_destroy(&beside->changed);
	pthread_mutex_destroy(&beside->lock);
	free(beside);
}

/* Signals are for the loop, which waits for them. */
static bool have_thread(struct beside *beside)
{
	sigset_t all, before;
	if (beside->has_thread)
		return true;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	beside->has_thread = pthread_create(&beside->thread, NULL, serve, beside) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return beside->has_thread;
}

void beside_start(struct beside *beside, void (*work)(void *context), void *context)
{
	if (!have_thread(beside)) {
		work(context);
		return;
	}
	pthread_mutex_lock(&beside->lock);
	beside->work = work;
	beside->context = context;
	pthread_cond_broadcast(&beside->changed);
	pthread_mutex_unlock(&beside->lock);
}

bool beside_wait(struct beside *beside, int64_t most_ns)
{
	struct timespec end;
	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += (time_t)((end.tv_nsec + most_ns) / CLOCK_SECOND);
	end.tv_nsec = (long)((end.tv_nsec + most_ns) % CLOCK_SECOND);
	pthread_mutex_lock(&beside->lock);
	while (beside->work && most_ns > 0 && pthread_cond_timedwait(&beside->changed, &beside->lock, &end) == 0)
		;
	bool done = !beside->work;
	pthread_mutex_unlock(&beside->lock);
	return done;
}
