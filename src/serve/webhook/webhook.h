/* Webhooks: what a real API server asks before it stores an object of ours. The same rules and words as the embedded API.
 *
 *   /validate       AdmissionReview of our kinds
 *   /mutate/pods    AdmissionReview of new pods
 *   /mutate/jobs    AdmissionReview of new Jobs
 *   /convert        ConversionReview between versions of our kinds
 *
 * What is asked is answered from the review alone and from what the store has of other objects; nothing is written. */
#ifndef SERVE_WEBHOOK_WEBHOOK_H
#define SERVE_WEBHOOK_WEBHOOK_H

#include "serve/http/listener.h"
#include "api/store.h"

struct webhook;

struct webhook_options {
	struct store *store;
	/* The pod as it should be; NULL: as it is. The caller destroys it. */
	struct doc *(*mutate)(void *context, const struct val *pod);
	struct doc *(*mutate_job)(void *context, const struct val *job); /* the same of a Job */
	/* Whether minimums are judged as KAI-Scheduler does; asked each time. NULL: they are not. */
	bool (*judges_as_kai)(void *context);
	void *context;
	const struct clock_source *clock; /* NULL: the system's */
	const struct logger *logger;      /* NULL: silent */
};

struct webhook_counts {
	uint64_t reviews, refused, mutated, conversions, malformed;
};

struct webhook *webhook_create(const struct webhook_options *options);
void webhook_destroy(struct webhook *webhook); /* before the store goes; NULL is a no-op */
void webhook_route(struct webhook *webhook, struct listener *listener);
struct webhook_counts webhook_counts(const struct webhook *webhook);

/* What the paths answer to a body. 200 and a review, or another code and words. */
/* With `patient` 0, and nothing written, when the object is only refused for what it names and is missing: that may come. */
int webhook_validate(struct webhook *webhook, const char *body, size_t length, bool patient, struct buffer *out);
int webhook_mutate(struct webhook *webhook, const char *body, size_t length, struct buffer *out);
int webhook_convert(struct webhook *webhook, const char *body, size_t length, struct buffer *out);

#endif
