/* The certificates of the webhooks: an authority of their own and a server certificate, kept in a Secret that all
 * replicas read. Here it is decided what the Secret has to hold; who writes it is somebody else's business.
 *
 * Both are replaced when a third of their time is left. A new authority is first only added to what clients are to
 * trust, beside the old one; an hour later, when they do, the server gets a certificate of it. So there is no moment at
 * which a client trusts one authority and the server shows a certificate of the other. */
#ifndef SERVE_WEBHOOK_CERTS_H
#define SERVE_WEBHOOK_CERTS_H

#include "serve/tls/certificate.h"

struct webhook_certs {
	struct buffer authorities;   /* PEM, the newest first: what clients have to trust */
	struct buffer authority_key; /* of the newest */
	struct certificate server;
};

/* Brings what was read (or nothing) up to date for a server with this name. 1 when something changed, 0 when all is good,
 * -1 and *error. `now` is in seconds. What is damaged is made again. */
int webhook_certs_renew(struct webhook_certs *certs, const char *host, int64_t now, struct error *error);
void webhook_certs_clear(struct webhook_certs *certs);

#endif
