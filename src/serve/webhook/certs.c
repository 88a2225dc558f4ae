/* Owns when the certificates of the webhooks are renewed, and in which order. */
#include "serve/webhook/certs.h"

#include "base/arena.h"

#include <string.h>

#define DAY INT64_C(86400)
#define AUTHORITY_SECONDS (5 * 365 * DAY)
#define SERVER_SECONDS (90 * DAY)
#define SETTLED INT64_C(3600) /* after which everybody trusts a new authority */

void webhook_certs_clear(struct webhook_certs *certs)
{
	buffer_free(&certs->authorities);
	buffer_free(&certs->authority_key);
	certificate_clear(&certs->server);
}

/* ---- the authority ---- */

/* The newest, with its key; nothing when there is none that can be used. */
static void read_newest(const struct webhook_certs *certs, struct certificate *newest)
{
	if (certs->authorities.length == 0 || certs->authority_key.length == 0)
		return;
	buffer_append(&newest->pem, certs->authorities.text, certs->authorities.length);
	buffer_append(&newest->key_pem, certs->authority_key.text, certs->authority_key.length);
	certificate_parse(newest);
	if (!certificate_is_whole(newest))
		certificate_clear(newest);
}

static int make_authority(struct webhook_certs *certs, struct certificate *newest, int64_t now, struct error *error)
{
	struct certificate made = {0};
	struct certificate_wish wish = {.common_name = "platoon-webhook-ca",
	                                .is_authority = true,
	                                .now = now,
	                                .seconds = AUTHORITY_SECONDS};
	if (certificate_make(&wish, NULL, &made, error) < 0) {
		certificate_clear(&made);
		return -1;
	}
	struct buffer both = {0};
	buffer_append(&both, made.pem.text, made.pem.length);
	if (newest->x509 && certificate_outlives(newest, now)) {
		/* Only the newest of the old ones: its PEM is the first of the list. */
		const char *end = strstr(newest->pem.text, "-----END CERTIFICATE-----");
		size_t length = end ? (size_t)(end - newest->pem.text) + strlen("-----END CERTIFICATE-----") : 0;
		buffer_append(&both, newest->pem.text, length);
		buffer_puts(&both, "\n");
	}
	buffer_free(&certs->authorities);
	buffer_free(&certs->authority_key);
	certs->authorities = both;
	buffer_append(&certs->authority_key, made.key_pem.text, made.key_pem.length);
	certificate_clear(newest);
	*newest = made;
	return 0;
}

/* ---- the server ---- */

/* Whether clients that trust what they were told an hour ago trust the newest. */
static bool is_settled(const struct webhook_certs *certs, const struct certificate *newest, int64_t now)
{
	const char *first = strstr(certs->authorities.text, "-----BEGIN CERTIFICATE-----");
	bool only = first && !strstr(first + 1, "-----BEGIN CERTIFICATE-----");
	return only || certificate_began(newest, now - SETTLED - DAY); /* a day before they are made */
}

static bool needs_server(const struct webhook_certs *certs, const struct certificate *newest, const char *host,
                         int64_t now)
{
	const struct certificate *server = &certs->server;
	if (!certificate_is_whole(server) || !certificate_outlives(server, now + DAY) ||
	    !certificate_is_for_host(server, host))
		return true;
	if (certificate_is_signed_by(server, newest))
		return !certificate_outlives(server, now + SERVER_SECONDS / 3);
	return is_settled(certs, newest, now);
}

static int make_server(struct webhook_certs *certs, const struct certificate *newest, const char *host, int64_t now,
                       struct error *error)
{
	struct buffer names = {0};
	buffer_printf(&names, "DNS:%s,DNS:%s.cluster.local,DNS:localhost,IP:127.0.0.1,IP:::1", host, host);
	struct certificate_wish wish = {.common_name = "platoon-webhook",
	                                .usage = "serverAuth",
	                                .names = names.text,
	                                .now = now,
	                                .seconds = SERVER_SECONDS};
	certificate_clear(&certs->server);
	int rc = certificate_make(&wish, newest, &certs->server, error);
	buffer_free(&names);
	return rc;
}

int webhook_certs_renew(struct webhook_certs *certs, const char *host, int64_t now, struct error *error)
{
	struct certificate newest = {0};
	int changed = 0;
	read_newest(certs, &newest);
	if (certs->server.pem.length > 0 && !certs->server.x509)
		certificate_parse(&certs->server);
	if (!newest.x509 || !certificate_outlives(&newest, now + AUTHORITY_SECONDS / 3))
		changed = make_authority(certs, &newest, now, error) < 0 ? -1 : 1;
	if (changed >= 0 && needs_server(certs, &newest, host, now))
		changed = make_server(certs, &newest, host, now, error) < 0 ? -1 : 1;
	certificate_clear(&newest);
	return changed;
}
